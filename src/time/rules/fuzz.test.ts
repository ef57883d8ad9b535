import fc from 'fast-check'
import { expect, it } from 'vitest'
import { cpuMs } from '../../../test/cpu-time.ts'
import { WakefulError } from '../../error.ts'
import {
  type HolidayCalendar,
  INSTANT_MAX,
  INSTANT_MIN,
  isRule,
  parse,
  parseDuration,
  parseInstant,
  preview,
  resolveWhen,
  scheduleOf,
  type When,
} from '../index.ts'

const now = Date.parse('2026-03-04T09:30:15.123Z')
const zone = fc.constantFrom('UTC', 'Europe/Rome', 'Australia/Lord_Howe', 'Pacific/Apia', 'America/St_Johns')

const us: HolidayCalendar = { name: 'us', version: 1, dates: { '2026-03-05': 'A day' }, weekend: [] }
const calendars = (name: string) => (name === 'us' ? us : undefined)

const WORDS =
  'in at on the next this last every each working business workday except excluding us weekends first a an half and of from now tomorrow today tonight noon midnight monday friday sat december feb may 24 29 31 5 5pm 17:30 5:30am 25:00 3rd 31st 2026 2027 2026-12-24 03/04 13/13 12/24/2026 hours minutes days weeks months years 1h30m 9999999 week month year day after 0 00:00 -1 1e9 p.m. UTC Z . , @ P1D PT5M __proto__ constructor * */5 @every L'.split(
    ' ',
  )
const phrase = fc.array(fc.constantFrom(...WORDS), { maxLength: 7 }).map((words) => words.join(' '))
const text = fc.oneof(
  phrase,
  fc.string(),
  fc.string({ unit: 'binary', maxLength: 50 }),
  fc.stringMatching(/^[0-9TZPWDHMS:.+\-[\] ]{0,25}$/),
)

/** A valid result or a WakefulError: no other error, and never slow. */
function resultOf<T>(work: () => T): T | undefined {
  const start = cpuMs()
  try {
    return work()
  } catch (thrown) {
    if (!(thrown instanceof WakefulError)) throw thrown
    expect(thrown.message).not.toBe('')
    expect(thrown.message.length).toBeLessThan(600)
    return undefined
  } finally {
    expect(cpuMs() - start).toBeLessThan(2000)
  }
}

function expectInstant(at: number): void {
  expect(Number.isInteger(at) && at >= INSTANT_MIN && at <= INSTANT_MAX).toBe(true)
}

it('any text is an instant in range or refused', () => {
  fc.assert(
    fc.property(text, zone, (input, timezone) => {
      const parsed = resultOf(() => parse(input, { now, timezone, calendars }))
      if (parsed !== undefined && 'instant' in parsed) expectInstant(parsed.instant)
      const instant = resultOf(() => parseInstant(input))
      if (instant !== undefined) expectInstant(instant)
      const duration = resultOf(() => parseDuration(input))
      if (duration !== undefined) expect(Number.isSafeInteger(duration) && duration >= 0).toBe(true)
    }),
    { numRuns: 4000 },
  )
})

it('any when is refused or a valid rule whose schedule has its first instant', () => {
  const value = fc.oneof(
    text,
    fc.integer(),
    fc.double(),
    fc.constantFrom(null, true, new Date(Number.NaN), new Date(now)),
    fc.anything(),
  )
  const cron = fc.oneof(
    fc
      .array(
        fc.oneof(
          fc.constantFrom('*', '*/7', 'L', '15W', '1-5', 'mon', '5#2', '?', '0'),
          fc.integer({ min: 0, max: 60 }).map(String),
        ),
        { minLength: 4, maxLength: 7 },
      )
      .map((fields) => fields.join(' ')),
    value,
  )
  const exclude = fc.oneof(
    value,
    fc.constantFrom('us', 'weekends', ['us', 'weekend'], 'none'),
    fc.record(
      {
        calendars: fc.constantFrom('us', ['us'], []),
        weekend: fc.constantFrom(true, ['fri', 'sat'], []),
        move: fc.constantFrom('next', 'previous'),
        offset: fc.integer({ min: -260, max: 260 }),
      },
      { requiredKeys: [] },
    ),
  )
  const when = fc.oneof(
    value,
    fc.record(
      { at: value, unix: value, delay: value, timezone: fc.oneof(zone, value) },
      { requiredKeys: [] },
    ),
    fc.record({ cron, start: value, end: value, count: value, misfire: value }, { requiredKeys: ['cron'] }),
    fc.record({ cron, timezone: zone }, { requiredKeys: ['cron'] }),
    fc.record({ cron, exclude, timezone: zone }, { requiredKeys: ['cron'] }),
    fc.record({ at: text, exclude }),
    fc.record({ every: value, start: value, end: value }, { requiredKeys: ['every'] }),
  )
  fc.assert(
    fc.property(when, zone, (input, timezone) => {
      const resolved = resultOf(() => resolveWhen(input as When, { now, timezone, calendars }))
      if (resolved === undefined) return
      expectInstant(resolved.first)
      expect(isRule(JSON.parse(JSON.stringify(resolved.rule)))).toBe(true)
      expect(scheduleOf(resolved.rule).next(resolved.nominal - 1)).toBe(resolved.nominal)
      const instants = preview(input as When, { now, timezone, calendars }).instants.map(({ instant }) =>
        Date.parse(instant),
      )
      expect(instants[0]).toBe(resolved.first)
      expect(instants).toEqual([...new Set(instants)].sort((a, b) => a - b))
    }),
    { numRuns: 3000 },
  )
})

it('hostile long texts are refused at once', () => {
  for (const input of [
    '1h '.repeat(333),
    '9'.repeat(999),
    'in '.repeat(333),
    'a.m. '.repeat(200),
    '1 and '.repeat(166),
    ' '.repeat(999),
    `${' '.repeat(998)}x`,
    '1d1h'.repeat(249),
    'the '.repeat(249),
    'x'.repeat(5_000_000),
  ]) {
    resultOf(() => parse(input, { now, timezone: 'UTC' }))
    resultOf(() => resolveWhen({ cron: input }, { now, timezone: 'UTC' }))
    resultOf(() => resolveWhen({ every: input }, { now, timezone: 'UTC' }))
    resultOf(() => parseInstant(input))
  }
})
