import { describe, expect, it } from 'vitest'
import { cpuMs } from '../../../test/cpu-time.ts'
import { type CalendarLookup, daysOffOf, type HolidayCalendar } from '../calendars/index.ts'
import type { RecurringRule } from '../rules/index.ts'
import { resolveWhen, type WhenObject } from '../when/index.ts'
import {
  followingOccurrence,
  isOnDayOff,
  lastOnWorkingDay,
  type NextOccurrence,
  occurrenceAfter,
  occurrenceFrom,
} from './next-occurrence.ts'

const now = Date.parse('2026-12-22T09:30:00Z')
const us: HolidayCalendar = { name: 'us', version: 1, dates: { '2026-12-25': 'Christmas Day' }, weekend: [] }
const calendars: CalendarLookup = (name) => (name === 'us' ? us : undefined)

function set(when: WhenObject, at = now, timezone = 'UTC') {
  const { rule, first, nominal } = resolveWhen(when, { now: at, timezone, calendars })
  const recurring = rule as RecurringRule
  const off = recurring.exclude === undefined ? null : daysOffOf(recurring.exclude, calendars)
  return { rule: recurring, off, occurrence: { at: first, nominal } as NextOccurrence }
}

/** The days of the first occurrences; 'nominal>day' if it was moved or skipped. */
function days(when: WhenObject, count: number, at = now, timezone = 'UTC'): string[] {
  const { rule, off, occurrence } = set(when, at, timezone)
  const days: string[] = []
  for (let next: NextOccurrence | null = occurrence; next !== null && days.length < count; ) {
    const [from, to] = [next.nominal, next.at].map((ms) => new Date(ms).toISOString().slice(5, 10))
    days.push(from === to ? to! : `${from}>${to}`)
    next = followingOccurrence(rule, off, next)
  }
  return days
}

describe('days off that are skipped', () => {
  it('are skipped to the next instant on a working day', () => {
    expect(days({ cron: '0 9 * * *', exclude: ['us', 'weekends'] }, 4)).toEqual([
      '12-23',
      '12-24',
      '12-25>12-28',
      '12-29',
    ])
  })

  it('do not affect a rule without an exclusion', () => {
    expect(days({ cron: '0 9 * * *' }, 3)).toEqual(['12-23', '12-24', '12-25'])
  })

  it('are local dates of the zone', () => {
    const late = { cron: '0 23 * * *', exclude: 'us', timezone: 'America/New_York' }
    expect(days(late, 4)).toEqual(['12-23', '12-24', '12-25', '12-26>12-27'])
  })

  it('at the end of a rule leave its last instant, at which the rule ends', () => {
    const { rule, off } = set({ cron: '0 9 * * *', end: '2026-12-27T23:00', exclude: ['us', 'weekends'] })
    const last = Date.parse('2026-12-24T09:00Z')
    expect(occurrenceAfter(rule, off, last)).toEqual({
      nominal: Date.parse('2026-12-25T09:00Z'),
      at: Date.parse('2026-12-27T09:00Z'),
    })
    expect(isOnDayOff(rule, off, Date.parse('2026-12-27T09:00Z'))).toBe(true)
    expect(occurrenceAfter(rule, off, Date.parse('2026-12-27T09:00Z'))).toBeNull()
  })

  it('are jumped over, however many ticks they contain', () => {
    const { rule, off } = set({ cron: '* * * * * *', exclude: ['us', 'weekends'] })
    const started = cpuMs()
    for (let count = 0; count < 2000; count++) {
      const saturday = Date.parse('2026-12-26T00:00Z') + count * 1000
      expect(occurrenceFrom(rule, off, saturday)?.at).toBe(Date.parse('2026-12-28T00:00Z'))
    }
    expect(cpuMs() - started).toBeLessThan(2000)
  })

  it('become occurrences again when a calendar is edited', () => {
    const { rule } = set({ cron: '0 9 * * *', exclude: 'us' })
    const nominal = Date.parse('2026-12-25T09:00Z')
    const edited = daysOffOf(rule.exclude!, () => ({ ...us, dates: {} }))
    expect(occurrenceFrom(rule, edited, nominal)).toEqual({ at: nominal, nominal })
  })

  it('repeat when a clock goes back over midnight, by the local date', () => {
    // In St. John's the clock went from 00:01 on 7 November 2010 back to 23:01 on the 6th, a Saturday.
    const off = { cron: '*/10 * * * *', exclude: { weekend: ['sat'] }, timezone: 'America/St_Johns' }
    const { occurrence } = set(off, Date.parse('2010-11-06T12:00Z'))
    expect(new Date(occurrence.at).toISOString()).toBe('2010-11-07T02:30:00.000Z')
    const { rule, off: days } = set(off, Date.parse('2010-11-06T12:00Z'))
    expect(new Date(followingOccurrence(rule, days, occurrence)!.at).toISOString()).toBe(
      '2010-11-07T03:30:00.000Z',
    )
  })
})

describe('days off that move an instant', () => {
  it.each<[WhenObject, string[]]>([
    [
      { cron: '0 9 25 * *', exclude: { calendars: 'us', weekend: true, move: 'next' } },
      ['12-25>12-28', '01-25', '02-25', '03-25', '04-25>04-26'],
    ],
    [
      { cron: '0 9 25 * *', exclude: { calendars: 'us', weekend: true, move: 'previous' } },
      ['12-25>12-24', '01-25', '02-25', '03-25', '04-25>04-23'],
    ],
    [
      { cron: '0 9 1 * *', exclude: { weekend: true, move: 'next', offset: 2 } },
      ['01-01>01-05', '02-01>02-03', '03-01>03-03'],
    ],
    [
      { cron: '0 9 25 * *', exclude: { calendars: 'us', weekend: true, move: 'previous', offset: -2 } },
      ['01-25>01-21', '02-25>02-23', '03-25>03-23'],
    ],
    [
      { cron: '0 9 * * *', exclude: { weekend: true, move: 'next' } },
      ['12-23', '12-24', '12-25', '12-26>12-28', '12-29'],
    ],
    [
      { cron: '0 9 * * *', exclude: { weekend: true, move: 'previous' } },
      ['12-23', '12-24', '12-25', '12-28', '12-29'],
    ],
    [
      { every: '1 month', start: '2027-01-02T10:00', exclude: { weekend: true, move: 'next' } },
      ['01-02>01-04', '02-02'],
    ],
    [
      { every: '1 month', start: '2027-01-02T10:00', exclude: { weekend: true, move: 'previous' } },
      ['02-02', '03-02'],
    ],
    [
      { every: '1d', exclude: { weekend: true, move: 'next' } },
      ['12-23', '12-24', '12-25', '12-26>12-28', '12-29'],
    ],
    [
      { rrule: 'FREQ=WEEKLY;BYDAY=SA;COUNT=2', exclude: { weekend: true, move: 'next' } },
      ['12-26>12-28', '01-02>01-04'],
    ],
    [
      { cron: '0 9 27 12 *', end: '2026-12-27T12:00', exclude: { weekend: true, move: 'next' } },
      ['12-27>12-28'],
    ],
  ])('%j', (when, expected) => {
    expect(days(when, expected.length)).toEqual(expected)
  })

  it('give a future occurrence even if its own instant is past', () => {
    const third: WhenObject = { cron: '0 9 1 * *', exclude: { weekend: true, move: 'next', offset: 2 } }
    expect(days(third, 2, Date.parse('2027-01-04T12:00Z'))).toEqual(['01-01>01-05', '02-01>02-03'])
    expect(days(third, 1, Date.parse('2027-01-05T12:00Z'))).toEqual(['02-01>02-03'])
    const monday: WhenObject = { cron: '0 9 * * 6', exclude: { weekend: true, move: 'next' } }
    expect(days(monday, 1, Date.parse('2026-12-27T12:00Z'))).toEqual(['12-26>12-28'])
  })

  it('keep the wall-clock time as written, also from and into a gap', () => {
    const at = (when: WhenObject) =>
      new Date(set(when, Date.parse('2027-03-01T00:00Z'), 'Europe/Rome').occurrence.at).toISOString()
    const gap = { weekend: ['sun'], move: 'next' as const }
    expect(at({ cron: '30 2 28 3 *', exclude: gap })).toBe('2027-03-29T00:30:00.000Z')
    expect(at({ cron: '30 2 27 3 *', exclude: { weekend: ['sat'], move: 'next' } })).toBe(
      '2027-03-28T01:30:00.000Z',
    )
    const twice = { cron: '30 2 30 10 *', exclude: { weekend: ['sat'], move: 'next' as const } }
    expect(at(twice)).toBe('2027-10-31T00:30:00.000Z')
    expect(at({ ...twice, dst: { overlap: 'last' } })).toBe('2027-10-31T01:30:00.000Z')
  })
})

describe('a rule with days off is refused', () => {
  it.each<[WhenObject, RegExp]>([
    [{ cron: '0 9 * * 6', exclude: 'weekends' }, /'0 9 \* \* 6' fires only on days off/],
    [{ cron: '0 9 25 12 *', end: '2027-01-01T00:00', exclude: 'us' }, /fires only on days off/],
    [{ rrule: 'FREQ=WEEKLY;BYDAY=SA;COUNT=3', exclude: 'weekends' }, /fires only on days off/],
    [
      { cron: '0 9 * * 6,0,1', count: 2, start: '2026-12-26T00:00', exclude: 'weekends' },
      /fires only on days off/,
    ],
    [{ cron: '0 9,17 * * *', exclude: { weekend: true, move: 'next' } }, /more than once a day/],
    [{ cron: '0 * * * *', exclude: { weekend: true, move: 'next' } }, /more than once a day/],
    [{ every: '12h', exclude: { weekend: true, move: 'next' } }, /more than once a day/],
    [{ cron: '@every 1h', exclude: { weekend: true, move: 'next' } }, /more than once a day/],
    [{ rrule: 'FREQ=DAILY;BYHOUR=9,17', exclude: { weekend: true, move: 'next' } }, /more than once a day/],
    [{ cron: '0 9 * * *', exclude: 'eu' }, /There is no calendar 'eu'/],
  ])('%j', (when, message) => {
    expect(() => set(when)).toThrow(message)
    expect(() => set(when)).toThrow(expect.objectContaining({ code: 'invalid_rule' }))
  })
})

describe('the newest instant on a working day', () => {
  const last = (when: WhenObject, after: string, until: string) => {
    const { rule, off } = set(when)
    const at = lastOnWorkingDay(rule, off!, Date.parse(after), Date.parse(until))
    return at === null ? null : new Date(at).toISOString()
  }

  it('is found before a run of days off, however often the rule fires', () => {
    const when = { cron: '* * * * * *', exclude: ['us', 'weekends'] }
    expect(last(when, '2026-12-22T10:00Z', '2026-12-27T18:00Z')).toBe('2026-12-24T23:59:59.000Z')
    expect(last(when, '2026-12-22T10:00Z', '2026-12-28T18:00Z')).toBe('2026-12-28T18:00:00.000Z')
    expect(last(when, '2026-12-24T23:59:59Z', '2026-12-27T18:00Z')).toBeNull()
  })
})
