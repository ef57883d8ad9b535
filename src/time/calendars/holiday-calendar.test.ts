import { describe, expect, it } from 'vitest'
import { type CalendarInput, isHolidayCalendar, readCalendar } from './holiday-calendar.ts'

const now = Date.parse('2026-03-04T09:30:00Z')
const read = (input: unknown, name = 'us-holidays') => readCalendar(name, input as CalendarInput, now)

describe('a calendar', () => {
  it('has the dates of a list, sorted and without duplicates', () => {
    expect(read({ dates: ['2026-12-25', '2026-01-01', '2026-12-25'] })).toEqual({
      calendar: { name: 'us-holidays', dates: { '2026-01-01': '', '2026-12-25': '' }, weekend: [] },
      notes: [],
    })
  })

  it('keeps the labels of days, on one line', () => {
    const { calendar } = read({ dates: { '2026-12-25': ' Christmas\n\tDay\0 ', '2026-12-26': '' } })
    expect(calendar.dates).toEqual({ '2026-12-25': 'Christmas Day', '2026-12-26': '' })
    expect(read({ dates: { '2026-12-25': 'x'.repeat(999) } }).calendar.dates['2026-12-25']).toHaveLength(200)
  })

  it('can have a weekend', () => {
    expect(read({ weekend: ['saturday', 'Fri', 'sat'] }).calendar.weekend).toEqual([5, 6])
  })

  it('has the days of ranges, with or without labels', () => {
    const { calendar } = read({ dates: { '2026-12-30..2027-01-01': 'Closed', '2026-12-31': 'Eve' } })
    expect(calendar.dates).toEqual({ '2026-12-30': 'Closed', '2026-12-31': 'Eve', '2027-01-01': 'Closed' })
    expect(Object.keys(read({ dates: ['2026-02-27..2026-03-01'] }).calendar.dates)).toHaveLength(3)
  })

  it('accepts the result of get, and adds days to the existing ones', () => {
    const first = { ...read({ dates: { '2026-12-25': 'Christmas' }, weekend: ['fri'] }).calendar, version: 1 }
    const { version: _version, ...stored } = first
    expect(read(stored).calendar).toEqual(stored)
    const input = { dates: ['2026-12-25', '2026-12-26'], weekend: [6] }
    expect(readCalendar('us-holidays', input, now, first).calendar).toEqual({
      name: 'us-holidays',
      dates: { '2026-12-25': 'Christmas', '2026-12-26': '' },
      weekend: [5, 6],
    })
  })

  it('may be empty, with a note', () => {
    expect(read({ dates: [] }).notes).toEqual(['it has no days off yet'])
  })

  it.each<[unknown, RegExp]>([
    [{ dates: ['2026-02-29'] }, /'2026-02-29' is not a date/],
    [{ dates: ['26-12-25'] }, /Write it like '2026-12-25'/],
    [{ dates: ['1969-12-31'] }, /from 1970/],
    [{ dates: ['2026-12-31..2026-12-24'] }, /ends before it begins/],
    [{ dates: ['2026-12-24..'] }, /is not a date/],
    [{ dates: ['1970-01-01..9999-12-31'] }, /At most 20000/],
    [{ dates: [new Date(0)] }, /is not a date/],
    [{ dates: { '2026-12-25': 7 } }, /The label of '2026-12-25' is not a string/],
    [{ dates: 'today' }, /at least one of them/],
    [{}, /at least one of them/],
    [null, /at least one of them/],
    [[], /at least one of them/],
    [{ days: [] }, /Unknown option "days"\. .*Known: `dates`, `ics`, `weekend`/],
    [{ weekend: ['caturday'] }, /'caturday' is not a weekday/],
    [{ weekend: 'sat' }, /a list of weekdays/],
    [{ weekend: 'mon tue wed thu fri sat sun'.split(' ') }, /All seven days/],
    [{ dates: Array.from({ length: 20_001 }, () => '2026-01-01') }, /20001 days/],
  ])('refuses %j', (input, message) => {
    expect(() => read(input)).toThrow(message)
    expect(() => read(input)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })

  it.each(['', 'US', '-x', 'a b', 'x'.repeat(64), 'weekend', 'weekends', 7])(
    'rejects the name %j',
    (name) => {
      expect(() => read({ dates: [] }, name as string)).toThrow(/the name/)
    },
  )
})

describe('a calendar read back from a database', () => {
  const valid = { name: 'a', version: 1, dates: { '2026-12-25': 'X' }, weekend: [5, 6] }

  it('is accepted if it is valid', () => {
    expect(isHolidayCalendar(valid)).toBe(true)
    expect(isHolidayCalendar({ ...read({ dates: ['2026-12-25'] }).calendar, version: 3 })).toBe(true)
  })

  it.each<unknown>([
    null,
    [],
    { ...valid, name: 'weekend' },
    { ...valid, version: 1.5 },
    { ...valid, version: '1' },
    { ...valid, dates: ['2026-12-25'] },
    { ...valid, dates: { '2026-13-01': '' } },
    { ...valid, dates: { '2026-12-25': null } },
    { ...valid, weekend: [1, 2, 3, 4, 5, 6, 7] },
    { ...valid, weekend: [8] },
    { ...valid, weekend: [6, 6] },
    { ...valid, more: 1 },
    { name: 'a', version: 1, dates: {} },
  ])('is rejected: %j', (value) => {
    expect(isHolidayCalendar(value)).toBe(false)
  })
})
