import { describe, expect, it } from 'vitest'
import type { Rule } from '../rules/index.ts'
import { resolveWhen, type When } from './when.ts'

const now = Date.parse('2026-03-04T09:30:00Z')
const context = { now, timezone: 'Europe/Rome' }
const resolve = (when: unknown) => resolveWhen(when as When, context)
const once = (at: number, timezone = 'Europe/Rome'): Rule => ({ kind: 'once', at, timezone })

describe('one instant', () => {
  it.each<[unknown, number]>([
    [new Date(now + 5), now + 5],
    [Temporal.Instant.fromEpochMilliseconds(now + 5), now + 5],
    ['2026-03-04T09:31:00Z', now + 60_000],
    ['10m', now + 600_000],
    [{ delay: 'PT10M' }, now + 600_000],
    [{ delay: '0s' }, now],
    [{ unix: now / 1000 + 1 }, now + 1000],
    [{ unix: now / 1000 + 0.123 }, now + 123],
    [{ unix: now / 1000 + 0.0001 }, now + 1],
    [{ at: new Date(now + 5) }, now + 5],
    [{ at: 'in 1 minute', timezone: undefined }, now + 60_000],
  ])('%j', (when, at) => {
    expect(resolve(when)).toEqual({ rule: once(at), first: at, nominal: at, notes: [] })
  })

  it.each(['2026-03-04T10:31', { at: '2026-03-04T10:31' }, 'today at 10:31'])(
    'keeps the wall time of %j, which stays should its zone change',
    (when) => {
      const rule = { ...once(now + 60_000), wall: Date.parse('2026-03-04T10:31Z') }
      expect(resolve(when)).toMatchObject({ rule, first: now + 60_000, nominal: now + 60_000 })
    },
  )

  it('resolves a wall time in the zone beside it', () => {
    expect(resolve({ at: '2026-03-05 09:00', timezone: 'asia/tokyo' }).rule).toEqual({
      ...once(Date.parse('2026-03-05T00:00Z'), 'Asia/Tokyo'),
      wall: Date.parse('2026-03-05T09:00Z'),
    })
    expect(resolve({ at: '2026-03-05 09:00', timezone: 'UTC' }).rule).toEqual(
      once(Date.parse('2026-03-05T09:00Z'), 'UTC'),
    )
  })

  it('never leaves a negative zero in a rule', () => {
    expect(Object.is(resolve({ unix: -1e-9 }).first, 0)).toBe(true)
  })

  it('accepts the past, with a note', () => {
    expect(resolve({ unix: 0 })).toMatchObject({
      first: 0,
      notes: ['the instant is in the past: it fires at once'],
    })
  })
})

describe('recurring rules', () => {
  it('keeps the text and finds the first instant strictly after now', () => {
    expect(resolve({ cron: '30 10 * * *', misfire: 'skip' })).toEqual({
      rule: { kind: 'cron', cron: '30 10 * * *', anchor: now, timezone: 'Europe/Rome', misfire: 'skip' },
      first: now + 86_400_000,
      nominal: now + 86_400_000,
      notes: [],
    })
    expect(resolve({ every: '1h30m', count: 3 })).toEqual({
      rule: {
        kind: 'every',
        every: '1h30m',
        everyMs: 5_400_000,
        anchor: now,
        timezone: 'Europe/Rome',
        count: 3,
      },
      first: now + 5_400_000,
      nominal: now + 5_400_000,
      notes: [],
    })
  })

  it('starts an interval at its start, and continues from now if that is past', () => {
    expect(resolve({ every: '1h', start: '2026-03-05T00:00' }).first).toBe(Date.parse('2026-03-04T23:00Z'))
    expect(resolve({ every: '1h', start: new Date(now) }).first).toBe(now)
    const late = resolve({ every: '1h', start: '2026-03-01T00:00:00Z' })
    expect(late.first).toBe(Date.parse('2026-03-04T10:00Z'))
    expect(late.notes).toEqual(['the start is in the past: it goes on from now'])
  })

  it('uses the zone in a cron expression, and refuses a second one', () => {
    const { rule, first } = resolve({ cron: 'CRON_TZ=Asia/Tokyo 0 9 * * *' })
    expect(rule).toMatchObject({ cron: 'CRON_TZ=Asia/Tokyo 0 9 * * *', timezone: 'Asia/Tokyo' })
    expect(first).toBe(Date.parse('2026-03-05T00:00Z'))
    expect(() => resolve({ cron: 'CRON_TZ=Asia/Tokyo 0 9 * * *', timezone: 'UTC' })).toThrow(/Use one/)
  })
})

describe('options of recurring rules', () => {
  it('are stored in the rule', () => {
    const rule = (when: unknown) => resolve(when).rule
    expect(rule({ cron: '0 9 * * *', dst: { overlap: 'both' }, jitter: '5m', misfire: 'all' })).toEqual({
      kind: 'cron',
      cron: '0 9 * * *',
      anchor: now,
      timezone: 'Europe/Rome',
      dst: { gap: 'shift', overlap: 'both' },
      jitterMs: 300_000,
      misfire: { all: { max: 1000, withinMs: 86_400_000 } },
    })
    expect(rule({ every: '1h', misfire: { all: { max: 5 } }, jitter: '0s' })).toEqual({
      kind: 'every',
      every: '1h',
      everyMs: 3_600_000,
      anchor: now,
      timezone: 'Europe/Rome',
      misfire: { all: { max: 5, withinMs: 86_400_000 } },
    })
  })

  it('counts months from the start', () => {
    expect(resolve({ every: 'P1M', start: '2026-05-31T10:00' })).toEqual({
      rule: {
        kind: 'every',
        every: 'P1M',
        everyMonths: 1,
        anchor: Date.parse('2026-05-31T08:00Z'),
        start: Date.parse('2026-05-31T08:00Z'),
        timezone: 'Europe/Rome',
      },
      first: Date.parse('2026-05-31T08:00Z'),
      nominal: Date.parse('2026-05-31T08:00Z'),
      notes: [],
    })
  })

  it.each([
    ['FREQ=DAILY', true],
    ['FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=9', true],
    ['FREQ=DAILY;BYHOUR=9;BYMINUTE=0', true],
    ['FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0', false],
    ['DTSTART:20270101T090000\nRRULE:FREQ=DAILY', false],
    ['FREQ=HOURLY', false],
  ])('notes where the rrule %j leaves the time of day open: %s', (rrule, isNoted) => {
    const context = { now: Date.parse('2026-03-04T09:30:15.123Z'), timezone: 'Europe/Rome' }
    const open =
      'what the rule leaves open of the time of day is that of the set, 10:30:15: name it with BYHOUR, BYMINUTE and BYSECOND, or with DTSTART'
    expect(resolveWhen({ rrule }, context).notes).toEqual(isNoted ? [open] : [])
    expect(resolveWhen({ rrule, start: '2026-04-01T09:00' }, context).notes).toEqual([])
  })

  it('uses the zone in an rrule', () => {
    const { rule, first } = resolve({
      rrule: 'DTSTART;TZID=Asia/Tokyo:20260401T090000\nRRULE:FREQ=DAILY',
      dst: { gap: 'skip' },
    })
    expect(rule).toMatchObject({
      kind: 'rrule',
      timezone: 'Asia/Tokyo',
      dst: { gap: 'skip', overlap: 'first' },
    })
    expect(first).toBe(Date.parse('2026-04-01T00:00Z'))
  })

  it('resolves a recurring phrase, alone or with options', () => {
    expect(resolve('every weekday at 9am')).toMatchObject({
      rule: { kind: 'cron', timezone: 'Europe/Rome' },
      first: Date.parse('2026-03-05T08:00Z'),
    })
    expect(
      resolve({ at: 'every weekday at 9am', timezone: 'Asia/Tokyo', misfire: 'all', count: 2 }),
    ).toMatchObject({
      rule: { kind: 'cron', timezone: 'Asia/Tokyo', count: 2, misfire: { all: {} } },
      first: Date.parse('2026-03-05T00:00Z'),
    })
  })
})

describe('refusals', () => {
  it.each<[unknown, string, RegExp]>([
    [1736882445, 'invalid_time', /seconds or milliseconds/],
    [null, 'invalid_time', /must be a Date, a Temporal.Instant or a string, not/],
    [undefined, 'invalid_time', /must be a Date, a Temporal.Instant or a string, not/],
    [[], 'invalid_time', /must be a Date, a Temporal.Instant or a string, not/],
    [
      Temporal.PlainDate.from('2026-01-01'),
      'invalid_time',
      /must be a Date, a Temporal.Instant or a string, not/,
    ],
    [{}, 'invalid_request', /exactly one/],
    [{ delay: '1m', cron: '* * * * *' }, 'invalid_request', /delay` and `cron/],
    [{ delay: '-1m' }, 'invalid_time', /sign/],
    [{ delay: '9000y' }, 'invalid_time', /no fixed length/],
    [{ delay: '500000w' }, 'invalid_time', /1970 to 9999/],
    [{ delay: 600 }, 'invalid_request', /`delay` must be a string with a unit, such as "600s"/],
    [{ unix: now }, 'invalid_time', /looks like milliseconds/],
    [{ unix: '5' }, 'invalid_time', /must be a number/],
    [{ unix: Number.NaN }, 'invalid_time', /must be a number/],
    [{ unix: -5 }, 'invalid_time', /1970/],
    [{ at: 5 }, 'invalid_time', /seconds or milliseconds/],
    [{ at: 'noon', count: 2 }, 'invalid_request', /fires once/],
    [{ at: 'noon', timezone: 'Europe/Roma' }, 'invalid_timezone', /Europe\/Rome/],
    [{ cron: '0 0 30 2 *' }, 'invalid_rule', /never fires/],
    [{ cron: '* * *' }, 'invalid_rule', /5 fields/],
    [{ cron: 5 }, 'invalid_rule', /must be a short string/],
    [{ cron: `* * * * ${'1,'.repeat(2000)}1` }, 'invalid_rule', /short string/],
    [{ every: '999ms' }, 'invalid_rule', /once a second/],
    [{ every: 5000 }, 'invalid_request', /`every` must be a string with a unit/],
    [{ every: '500000w' }, 'invalid_rule', /never fires/],
    [{ every: '0 months' }, 'invalid_rule', /one month/],
    [{ every: '1 month 2 days' }, 'invalid_rule', /no fixed length/],
    [{ every: '1.5 months' }, 'invalid_rule', /no fixed length/],
    [
      { every: '1h', start: '2026-05-01T00:00', end: '2026-04-01T00:00' },
      'invalid_rule',
      /is before `start`/,
    ],
    [{ cron: '* * * * *', end: '2026-01-01T00:00' }, 'invalid_rule', /is between its start and its end/],
    [{ every: '1h', end: '2026-05-32' }, 'invalid_time', /no May 32 in 2026/],
    [{ every: '1h', count: 0 }, 'invalid_rule', /count/],
    [{ every: '1h', count: 1.5 }, 'invalid_rule', /count/],
    [{ every: '1h', misfire: 'x' }, 'invalid_request', /must be 'once'/],
    [
      { every: '1h', misfire: { all: { maximum: 5 } } },
      'invalid_request',
      /`misfire.all`: Unknown option "maximum"/,
    ],
    [{ every: '1h', misfire: { all: { max: 0 } } }, 'invalid_request', /at least 1, not 0/],
    [{ every: '1h', misfire: { all: { within: '0s' } } }, 'invalid_request', /would fire none/],
    [
      { every: '1h', misfire: { all: { within: 5 } } },
      'invalid_request',
      /`misfire.all.within` must be a string/,
    ],
    [{ at: 'noon', misfire: 'all' }, 'invalid_request', /fires once/],
    [{ at: 'noon', jitter: '5s' }, 'invalid_request', /fires once/],
    [{ every: '1h', jitter: '25h' }, 'invalid_request', /at most 1d/],
    [{ every: '1h', jitter: 5 }, 'invalid_request', /`jitter` must be a string with a unit/],
    [{ every: '1h', dst: {} }, 'invalid_request', /fixed length/],
    [{ cron: '@every 1h', dst: { gap: 'skip' } }, 'invalid_request', /fixed length/],
    [{ cron: '0 9 * * *', dst: { gap: 'jump' } }, 'invalid_request', /`dst` must be/],
    [{ cron: '0 9 * * *', dst: 'skip' }, 'invalid_request', /`dst` must be/],
    [{ cron: '0 9 * * *', dst: { gap: 'skip', fold: 1 } }, 'invalid_request', /`dst`: Unknown option "fold"/],
    [{ every: '1h', exclude: 7 }, 'invalid_request', /`exclude` 7 is not understood/],
    [{ rrule: 'FREQ=SOMETIMES' }, 'invalid_rule', /FREQ/],
    [{ rrule: 'DTSTART:20200101T000000Z\nRRULE:FREQ=DAILY;COUNT=3' }, 'invalid_rule', /are past/],
    [
      { rrule: 'DTSTART;TZID=Asia/Tokyo:20270101T000000\nRRULE:FREQ=DAILY', timezone: 'UTC' },
      'invalid_rule',
      /Use one/,
    ],
    [{ at: 'every day at 9am until 2027-01-01', end: '2028-01-01T00:00' }, 'invalid_request', /Use one/],
    [{ cron: '* * * * *', timzone: 'UTC' }, 'invalid_request', /Unknown option "timzone"/],
  ])('%j', (when, code, message) => {
    expect(() => resolve(when)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    )
  })

  it('refuses a context with an invalid zone', () => {
    expect(() => resolveWhen('noon', { now, timezone: 'Mars/Base' })).toThrow(
      expect.objectContaining({ code: 'invalid_timezone' }),
    )
  })
})
