import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isRule, type Rule } from './rule.ts'
import { scheduleOf } from './schedule.ts'

const good: Rule[] = [
  { kind: 'once', at: 0, timezone: 'UTC' },
  { kind: 'once', at: 5, timezone: 'UTC', misfire: 'skip' },
  {
    kind: 'every',
    every: '1h',
    everyMs: 3_600_000,
    anchor: 5,
    timezone: 'Europe/Rome',
    start: 5,
    end: 9,
    count: 3,
  },
  { kind: 'cron', cron: 'CRON_TZ=Asia/Tokyo 0 9 * * *', anchor: 5, timezone: 'Asia/Tokyo' },
  { kind: 'cron', cron: '@every 5m', anchor: 5, timezone: 'UTC', misfire: 'once' },
  {
    kind: 'every',
    every: '1 year and 2 months',
    everyMonths: 14,
    anchor: 5,
    timezone: 'Europe/Rome',
    dst: { gap: 'skip', overlap: 'both' },
    jitterMs: 1000,
    misfire: { all: { max: 10, withinMs: 5 } },
  },
  { kind: 'rrule', rrule: 'FREQ=DAILY', anchor: 5, timezone: 'UTC', dst: { gap: 'shift', overlap: 'last' } },
  { kind: 'cron', cron: '0 9 * * *', anchor: 5, timezone: 'UTC', exclude: { weekend: [5, 6] } },
  {
    kind: 'rrule',
    rrule: 'FREQ=DAILY',
    anchor: 5,
    timezone: 'UTC',
    exclude: { calendars: ['us-holidays'], weekend: [6, 7], move: 'previous', offset: -250 },
  },
]

it('accepts valid rules, also after JSON', () => {
  for (const rule of good) expect(isRule(JSON.parse(JSON.stringify(rule)))).toBe(true)
})

it.each([
  null,
  [],
  'once',
  {},
  { kind: 'once' },
  { kind: 'rrule', rrule: 'FREQ=DAILY', timezone: 'UTC' },
  { kind: 'once', at: '5', timezone: 'UTC' },
  { kind: 'once', at: 0.5, timezone: 'UTC' },
  { kind: 'once', at: -1, timezone: 'UTC' },
  { kind: 'once', at: 1e15, timezone: 'UTC' },
  { kind: 'once', at: 5, timezone: 'Mars/Base' },
  { kind: 'once', at: 5, timezone: 'UTC', jitter: 5 },
  { ...good[2], everyMs: 3_600_001 },
  { ...good[2], every: '1ms', everyMs: 1 },
  { ...good[2], start: 10 },
  { ...good[2], count: 0 },
  { ...good[3], cron: '* * *' },
  { ...good[3], cron: 'x'.repeat(5000) },
  { ...good[3], misfire: 'all' },
  { ...good[3], misfire: { all: { max: 0, withinMs: 5 } } },
  { ...good[3], misfire: { all: { max: 1, withinMs: 5, more: 1 } } },
  { ...good[1], misfire: { all: { max: 1, withinMs: 5 } } },
  { ...good[3], jitterMs: 0 },
  { ...good[3], jitterMs: 86_400_001 },
  { ...good[3], dst: { gap: 'shift' } },
  { ...good[3], dst: { gap: 'shift', overlap: 'none' } },
  { ...good[2], dst: { gap: 'shift', overlap: 'first' } },
  { ...good[2], everyMonths: 1 },
  { ...good[5], everyMonths: 13 },
  { ...good[5], every: '14d' },
  { ...good[5], kind: 'cron' },
  { ...good[6], rrule: 'FREQ=SOMETIMES' },
  { ...good[1], exclude: { weekend: [6] } },
  { ...good[7], exclude: {} },
  { ...good[7], exclude: [] },
  { ...good[7], exclude: { weekend: [] } },
  { ...good[7], exclude: { weekend: [0] } },
  { ...good[7], exclude: { weekend: [6, 6] } },
  { ...good[7], exclude: { weekend: [1, 2, 3, 4, 5, 6, 7] } },
  { ...good[7], exclude: { calendars: ['weekend'] } },
  { ...good[7], exclude: { calendars: 'us' } },
  { ...good[7], exclude: { weekend: [6], move: 'away' } },
  { ...good[7], exclude: { weekend: [6], offset: 1 } },
  { ...good[7], exclude: { weekend: [6], move: 'next', offset: 251 } },
  { ...good[7], exclude: { weekend: [6], more: 1 } },
])('refuses the corrupt %j', (value) => {
  expect(isRule(value)).toBe(false)
})

it('never throws, and what it accepts can be scheduled', () => {
  const field = fc.oneof(
    fc.integer(),
    fc.string(),
    fc.constantFrom('UTC', '0 9 * * *', '1h', 3_600_000, '1 month', 1, 'FREQ=DAILY', null),
  )
  const row = fc.record(
    {
      kind: fc.constantFrom('once', 'every', 'cron', 'rrule', 'x'),
      at: field,
      every: field,
      everyMs: field,
      everyMonths: field,
      rrule: field,
      cron: field,
      anchor: field,
      timezone: field,
      start: field,
    },
    { requiredKeys: ['kind'] },
  )
  fc.assert(
    fc.property(fc.oneof(row, fc.anything()), (value) => {
      if (isRule(value)) scheduleOf(value).next(0)
    }),
    { numRuns: 500 },
  )
})
