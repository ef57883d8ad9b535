import { describe, expect, it } from 'vitest'
import { type CalendarInput, isHolidayCalendar, readCalendar } from './holiday-calendar.ts'

const now = Date.parse('2026-03-04T09:30:00Z')
const read = (given: unknown, name = 'us-holidays') => readCalendar(name, given as CalendarInput, now)

describe('a calendar', () => {
  it('is read from a list of dates, in order and each once', () => {
    expect(read({ dates: ['2026-12-25', '2026-01-01', '2026-12-25'] })).toEqual({
      calendar: { name: 'us-holidays', dates: { '2026-01-01': '', '2026-12-25': '' }, weekend: [] },
      notes: [],
    })
  })

  it('keeps what the days are called, on one line', () => {
    const { calendar } = read({ dates: { '2026-12-25': ' Christmas\n\tDay\0 ', '2026-12-26': '' } })
    expect(calendar.dates).toEqual({ '2026-12-25': 'Christmas Day', '2026-12-26': '' })
    expect(read({ dates: { '2026-12-25': 'x'.repeat(999) } }).calendar.dates['2026-12-25']).toHaveLength(200)
  })

  it('has weekdays that are off as well', () => {
    expect(read({ weekend: ['saturday', 'Fri', 'sat'] }).calendar.weekend).toEqual([5, 6])
  })

  it('is read from ranges, labelled or not', () => {
    const { calendar } = read({ dates: { '2026-12-30..2027-01-01': 'Closed', '2026-12-31': 'Eve' } })
    expect(calendar.dates).toEqual({ '2026-12-30': 'Closed', '2026-12-31': 'Eve', '2027-01-01': 'Closed' })
    expect(Object.keys(read({ dates: ['2026-02-27..2026-03-01'] }).calendar.dates)).toHaveLength(3)
  })

  it('takes what it is shown as, and more days beside those it has', () => {
    const first = { ...read({ dates: { '2026-12-25': 'Christmas' }, weekend: ['fri'] }).calendar, version: 1 }
    const { version: _version, ...shown } = first
    expect(read(shown).calendar).toEqual(shown)
    const given = { dates: ['2026-12-25', '2026-12-26'], weekend: [6] }
    expect(readCalendar('us-holidays', given, now, first).calendar).toEqual({
      name: 'us-holidays',
      dates: { '2026-12-25': 'Christmas', '2026-12-26': '' },
      weekend: [5, 6],
    })
  })

  it('may be empty, and says so', () => {
    expect(read({ dates: [] }).notes).toEqual(['it has no days off yet'])
  })

  it.each<[unknown, RegExp]>([
    [{ dates: ['2026-02-29'] }, /'2026-02-29' is not a date/],
    [{ dates: ['26-12-25'] }, /write it like '2026-12-25'/],
    [{ dates: ['1969-12-31'] }, /from 1970/],
    [{ dates: ['2026-12-31..2026-12-24'] }, /ends before it begins/],
    [{ dates: ['2026-12-24..'] }, /is not a date/],
    [{ dates: ['1970-01-01..9999-12-31'] }, /at most 20000/],
    [{ dates: [new Date(0)] }, /is not a date/],
    [{ dates: { '2026-12-25': 7 } }, /the label of 2026-12-25 is not a text/],
    [{ dates: 'today' }, /at least one of them/],
    [{}, /at least one of them/],
    [null, /at least one of them/],
    [[], /at least one of them/],
    [{ days: [] }, /'days' is unknown: a calendar has dates, ics, weekend/],
    [{ weekend: ['caturday'] }, /'caturday' is not a weekday/],
    [{ weekend: 'sat' }, /a list of weekdays/],
    [{ weekend: 'mon tue wed thu fri sat sun'.split(' ') }, /all seven days/],
    [{ dates: Array.from({ length: 20_001 }, () => '2026-01-01') }, /20001 days/],
  ])('refuses %j', (given, message) => {
    expect(() => read(given)).toThrow(message)
    expect(() => read(given)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })

  it.each(['', 'US', '-x', 'a b', 'x'.repeat(64), 'weekend', 'weekends', 7])('is not named %j', (name) => {
    expect(() => read({ dates: [] }, name as string)).toThrow(/the name/)
  })
})

describe('a calendar read back from a database', () => {
  const sound = { name: 'a', version: 1, dates: { '2026-12-25': 'X' }, weekend: [5, 6] }

  it('is taken where it is whole and sound', () => {
    expect(isHolidayCalendar(sound)).toBe(true)
    expect(isHolidayCalendar({ ...read({ dates: ['2026-12-25'] }).calendar, version: 3 })).toBe(true)
  })

  it.each<unknown>([
    null,
    [],
    { ...sound, name: 'weekend' },
    { ...sound, version: 1.5 },
    { ...sound, version: '1' },
    { ...sound, dates: ['2026-12-25'] },
    { ...sound, dates: { '2026-13-01': '' } },
    { ...sound, dates: { '2026-12-25': null } },
    { ...sound, weekend: [1, 2, 3, 4, 5, 6, 7] },
    { ...sound, weekend: [8] },
    { ...sound, weekend: [6, 6] },
    { ...sound, more: 1 },
    { name: 'a', version: 1, dates: {} },
  ])('is not taken: %j', (value) => {
    expect(isHolidayCalendar(value)).toBe(false)
  })
})
