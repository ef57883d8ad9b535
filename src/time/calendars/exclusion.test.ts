import { describe, expect, it } from 'vitest'
import { parseDay } from '../zones/index.ts'
import { type CalendarLookup, daysOffOf, resolveExclude } from './days-off.ts'
import { type Exclusion, readExclude } from './exclusion.ts'
import type { HolidayCalendar } from './holiday-calendar.ts'

const us: HolidayCalendar = {
  name: 'us-holidays',
  version: 1,
  dates: { '2026-12-25': 'Christmas Day', '2026-12-26': '' },
  weekend: [],
}
const gulf: HolidayCalendar = { name: 'gulf', version: 1, dates: {}, weekend: [5, 6] }
const find: CalendarLookup = (name) => [us, gulf].find((each) => each.name === name)
const day = (text: string) => parseDay(text)!

describe('readExclude', () => {
  it.each<[unknown, Exclusion | undefined]>([
    [undefined, undefined],
    [[], undefined],
    [{}, undefined],
    [{ calendars: [], weekend: [] }, undefined],
    ['us-holidays', { calendars: ['us-holidays'] }],
    ['weekends', { weekend: [6, 7] }],
    [['fri', 'Saturday'], { weekend: [5, 6] }],
    [['us-holidays', 'weekends', 'fri'], { calendars: ['us-holidays'], weekend: [5, 6, 7] }],
    [
      { calendars: 'us-holidays', weekend: [], move: 'next' },
      { calendars: ['us-holidays'], weekend: [], move: 'next' },
    ],
    [{ weekend: [5, 'sat'] }, { weekend: [5, 6] }],
    [
      ['us-holidays', 'company', 'weekend', 'company'],
      { calendars: ['company', 'us-holidays'], weekend: [6, 7] },
    ],
    [
      { calendars: 'company', weekend: true },
      { calendars: ['company'], weekend: [6, 7] },
    ],
    [
      { weekend: ['sat', 'Friday'], move: 'next' },
      { weekend: [5, 6], move: 'next' },
    ],
    [
      { weekend: true, move: 'previous', offset: -2 },
      { weekend: [6, 7], move: 'previous', offset: -2 },
    ],
    [
      { weekend: true, move: 'next', offset: 0 },
      { weekend: [6, 7], move: 'next' },
    ],
  ])('%j', (input, exclude) => {
    expect(readExclude(input)).toEqual(exclude)
  })

  it.each<[unknown, RegExp]>([
    [7, /`exclude` 7 is not understood/],
    [null, /not understood/],
    ['US', /'US' is not the name of a calendar/],
    [[7], /7 is not the name/],
    [{ calendars: 7 }, /not understood/],
    [{ weekend: 'sat' }, /list of weekdays/],
    [{ weekend: 'mon tue wed thu fri sat sun'.split(' ') }, /All seven/],
    [{ weekend: true, move: 'away' }, /`exclude.move` must be one of next, previous, not 'away'/],
    [{ weekend: true, offset: 1 }, /`exclude.offset` needs `exclude.move`/],
    [{ weekend: true, move: 'next', offset: 251 }, /from -250 to 250/],
    [{ weekend: true, move: 'next', offset: 0.5 }, /whole number/],
    [{ move: 'next' }, /`exclude.move` needs days off/],
    [{ holidays: 'us' }, /`exclude`: Unknown option "holidays"/],
    [Array.from({ length: 21 }, (_, index) => `c${index}`), /At most 20/],
  ])('refuses %j', (input, message) => {
    expect(() => readExclude(input)).toThrow(message)
    expect(() => readExclude(input)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })
})

describe('days off', () => {
  const off = daysOffOf({ calendars: ['us-holidays'], weekend: [6, 7] }, find)

  it('gives the reason why a day is off', () => {
    expect(
      ['2026-12-24', '2026-12-25', '2026-12-26', '2026-12-27'].map((date) => off.reason(day(date))),
    ).toEqual([undefined, 'Christmas Day (us-holidays)', 'a day of us-holidays', 'Sunday'])
  })

  it('finds the next and previous working day', () => {
    expect(off.workingDay(day('2026-12-25'), 1)).toBe(day('2026-12-28'))
    expect(off.workingDay(day('2026-12-28'), 1)).toBe(day('2026-12-28'))
    expect(off.workingDay(day('2026-12-27'), -1)).toBe(day('2026-12-24'))
  })

  it('counts the weekend of a calendar', () => {
    const there = daysOffOf({ calendars: ['gulf'] }, find)
    expect(there.reason(day('2026-12-25'))).toBe('Friday')
    expect(there.isOff(day('2026-12-27'))).toBe(false)
  })

  it('finds no working day if there is none within ten years', () => {
    const dates: Record<string, string> = {}
    for (let at = day('2026-01-01'); at < day('2040-01-01'); at++) {
      dates[new Date(at * 86_400_000).toISOString().slice(0, 10)] = ''
    }
    const long = daysOffOf({ calendars: ['x'] }, () => ({ name: 'x', version: 1, dates, weekend: [] }))
    expect(long.workingDay(day('2026-01-01'), 1)).toBeNull()
    expect(long.workingDay(day('2031-01-01'), 1)).toBe(day('2040-01-01'))
    expect(long.workingDay(day('2039-01-01'), -1)).toBeNull()
  })

  it('refuses an unknown calendar, and lists the known ones', () => {
    const known = Object.assign((name: string) => find(name), { names: ['us-holidays', 'gulf'] })
    expect(() => daysOffOf({ calendars: ['eu'] }, find)).toThrow(
      "There is no calendar 'eu'. Create it first with `calendars.put`.",
    )
    expect(() => daysOffOf({ calendars: ['eu'] }, known)).toThrow(
      /Known: 'gulf', 'us-holidays'\. Create it first/,
    )
    expect(() => daysOffOf({ calendars: ['us-holiday'] }, known)).toThrow(
      "There is no calendar 'us-holiday'. Did you mean 'us-holidays'?",
    )
    expect(() => daysOffOf({ calendars: ['us'] }, known)).toThrow(
      "There is no calendar 'us'. Did you mean 'us-holidays'?",
    )
    expect(() => daysOffOf({ calendars: ['eu'] }, find)).toThrow(
      expect.objectContaining({ code: 'invalid_rule' }),
    )
    expect(() => resolveExclude({ calendars: ['gulf'], weekend: [1, 2, 3, 4, 7] }, find)).toThrow(/All seven/)
  })
})
