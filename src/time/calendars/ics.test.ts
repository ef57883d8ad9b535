import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cpuMs } from '../../../test/cpu-time.ts'
import { WakefulError } from '../../error.ts'
import { readCalendar } from './holiday-calendar.ts'

const now = Date.parse('2026-03-04T09:30:00Z')
const read = (ics: string) => readCalendar('c', { ics }, now)
const file = (...events: string[]) =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    ...events.flatMap((event) => ['BEGIN:VEVENT', event, 'END:VEVENT']),
    'END:VCALENDAR',
    '',
  ].join('\n')
const datesOf = (...events: string[]) => read(file(...events)).calendar.dates

describe('an .ics file', () => {
  it('gives its all-day events, with any line endings, folding, byte order mark and quotes', () => {
    const text = file(
      'DTSTART;X-A="a:b;c";VALUE=DATE:20261225\nSUMMARY;LANGUAGE=en:Christ\n mas\\, the d\n\tay\\nof\\; days',
    )
    const dates = { '2026-12-25': 'Christmas, the day of; days' }
    expect(read(text).calendar.dates).toEqual(dates)
    expect(read(`\uFEFF${text.replaceAll('\n', '\r\n')}`).calendar.dates).toEqual(dates)
  })

  it.each<[string, string[]]>([
    ['DTSTART;VALUE=DATE:20261224', ['2026-12-24']],
    ['DTSTART:20261224', ['2026-12-24']],
    ['DTSTART;VALUE=DATE:20261224\nDTEND;VALUE=DATE:20261227', ['2026-12-24', '2026-12-25', '2026-12-26']],
    ['DTSTART;VALUE=DATE:20261224\nDTEND;VALUE=DATE:20261224', ['2026-12-24']],
    ['DTSTART;VALUE=DATE:20261224\nDURATION:P2D', ['2026-12-24', '2026-12-25']],
    [
      'DTSTART;VALUE=DATE:20261224\nRDATE;VALUE=DATE:20270101,20270106',
      ['2026-12-24', '2027-01-01', '2027-01-06'],
    ],
    ['DTSTART;VALUE=DATE:20261224\nRRULE:FREQ=YEARLY;COUNT=2', ['2026-12-24', '2027-12-24']],
    [
      'DTSTART;VALUE=DATE:20261224\nRRULE:FREQ=DAILY;UNTIL=20261227\nEXDATE;VALUE=DATE:20261225',
      ['2026-12-24', '2026-12-26', '2026-12-27'],
    ],
    ['DTSTART;VALUE=DATE:20100101\nRRULE:FREQ=YEARLY;UNTIL=20270601', ['2026-01-01', '2027-01-01']],
    [
      'DTSTART;VALUE=DATE:20251231\nDTEND;VALUE=DATE:20260102\nRRULE:FREQ=YEARLY;COUNT=1',
      ['2025-12-31', '2026-01-01'],
    ],
    ['DTSTART;VALUE=DATE:20261224\nRRULE:FREQ=SECONDLY;UNTIL=20261225T120000Z', ['2026-12-24', '2026-12-25']],
    ['DTSTART;VALUE=DATE:20261224\nRRULE:FREQ=DAILY;UNTIL=20261201', []],
    ['DTSTART;VALUE=DATE:20261224\nBEGIN:VALARM\nDTSTART:nonsense\nEND:VALARM', ['2026-12-24']],
  ])('%j', (event, dates) => {
    expect(Object.keys(datesOf(event))).toEqual(dates)
  })

  it('expands recurring events for a hundred years, with a note', () => {
    const { calendar, notes } = read(file('DTSTART;VALUE=DATE:20000704\nRRULE:FREQ=YEARLY\nSUMMARY:Fourth'))
    expect(Object.keys(calendar.dates)).toHaveLength(100)
    expect(Object.keys(calendar.dates).at(-1)).toBe('2125-07-04')
    expect(notes).toEqual([expect.stringMatching(/up to the end of 2125/)])
  })

  it('leaves out events with a clock time and cancelled ones', () => {
    const { calendar, notes } = read(
      file('DTSTART:20261224T090000Z', 'DTSTART;VALUE=DATE:20261225\nSTATUS:CANCELLED', 'DTSTART:20260101'),
    )
    expect(Object.keys(calendar.dates)).toEqual(['2026-01-01'])
    expect(notes).toEqual(['1 event with a clock time left out: not a day off', '1 cancelled event left out'])
  })

  it('replaces single days of a series', () => {
    const dates = datesOf(
      'UID:a\nRECURRENCE-ID;VALUE=DATE:20270101\nDTSTART;VALUE=DATE:20270104\nSUMMARY:New Year observed',
      'UID:a\nDTSTART;VALUE=DATE:20260101\nRRULE:FREQ=YEARLY;COUNT=3\nSUMMARY:New Year',
      'UID:a\nRECURRENCE-ID:20280101T000000\nSTATUS:CANCELLED',
      'UID:b\nDTSTART;VALUE=DATE:20280101\nSUMMARY:Other',
    )
    expect(dates).toEqual({
      '2026-01-01': 'New Year',
      '2027-01-04': 'New Year observed',
      '2028-01-01': 'Other',
    })
  })

  it('labels a day with all its events; labels of dates override them', () => {
    const ics = file(
      'DTSTART:20261225\nSUMMARY:A',
      'DTSTART:20261225\nSUMMARY:B',
      'DTSTART:20261225\nSUMMARY:A',
    )
    expect(readCalendar('c', { ics }, now).calendar.dates).toEqual({ '2026-12-25': 'A / B' })
    const input = { ics, dates: { '2026-12-25': 'C' } }
    expect(readCalendar('c', input, now).calendar.dates).toEqual({ '2026-12-25': 'C' })
    expect(readCalendar('c', { ics, dates: ['2026-12-25'] }, now).calendar.dates).toEqual({
      '2026-12-25': 'A / B',
    })
  })

  it.each<[string, RegExp]>([
    ['', /Line 1 .*BEGIN:VCALENDAR/],
    ['hello', /Line 1 .*'hello' is not NAME:value/],
    ['BEGIN:VCALENDAR', /Line 1 .*BEGIN of 'VCALENDAR' has no END/],
    ['BEGIN:VCALENDAR\n\nBEGIN:VEVENT\nEND:VCALENDAR', /Line 4 .*END of 'VCALENDAR' has no BEGIN/],
    ['BEGIN:VCALENDAR\nEND:VCALENDAR\nX:1', /Line 3 .*outside/],
    [file('SUMMARY:x'), /Line 3 .*no DTSTART/],
    [file('DTSTART:20260230'), /does not exist.*This is in line 4 of/],
    [file('DTSTART:2026-02-03'), /is not a date.*This is in line 4 of/],
    [file('DTSTART;VALUE=DATE:20260203T000000'), /Line 4 .*has a time/],
    [file('DTSTART:20260203\nDTSTART:20260204'), /Line 5 .*twice/],
    [file('DTSTART:20260203\nDTEND:20260201'), /Line 5 .*before/],
    [file('DTSTART:20260203\nDTEND:20260204T000000'), /Line 5 .*has a time/],
    [file('DTSTART:20260203\nDTEND:99991231'), /Line 5 .*lasts/],
    [file('DTSTART:20260203\nDURATION:PT1H'), /Line 5 .*days or weeks/],
    [file('DTSTART:20260203\nRRULE:FREQ=SOMETIMES'), /SOMETIMES.*This is in line 5 of/],
    [file('DTSTART:20260203\nEXRULE:FREQ=DAILY'), /Line 5 .*EXRULE/],
    [file('DTSTART:20260203\nEXDATE:x'), /EXDATE.*This is in line 5 of/],
    [file('DTSTART:20260203\nRRULE:FREQ=DAILY'), /Line 3 .*more than 20000 days/],
    [' '.repeat(2 * 1024 * 1024 + 1), /at most 2 MB/],
  ])('is refused with the line number: %j', (text, message) => {
    expect(() => read(text)).toThrow(message)
    expect(() => read(text)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })
})

describe('any .ics text', () => {
  const LINES =
    'BEGIN:VCALENDAR|END:VCALENDAR|BEGIN:VEVENT|END:VEVENT|DTSTART:20260101|DTSTART;VALUE=DATE:20261231|DTEND:20270103|DTEND;VALUE=DATE:20000101|DURATION:P2W|DURATION:P|RRULE:FREQ=YEARLY|RRULE:FREQ=DAILY;COUNT=5|RRULE:FREQ=SECONDLY|RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30|RRULE:FREQ=MONTHLY;BYDAY=1MO;BYSETPOS=-1|RDATE:20260505,20260606T000000Z|EXDATE:20260101|UID:a|RECURRENCE-ID:20270101|STATUS:CANCELLED|SUMMARY:a\\,b\\| folded|\t|:|;:|A;="":x|DTSTART;"|\0|__proto__:1|DTSTART:16000101|DTSTART:99991231'.split(
      '|',
    )
  const calm = (text: string) => {
    try {
      const { calendar } = read(text)
      return Object.keys(calendar.dates).every((date) => /^\d{4}-\d\d-\d\d$/.test(date))
    } catch (thrown) {
      return thrown instanceof WakefulError && thrown.code === 'invalid_request'
    }
  }

  it('is parsed or refused, and never throws anything else', () => {
    const line = fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...LINES) },
      fc.string({ unit: 'binary', maxLength: 30 }),
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), fc.constantFrom('\n', '\r\n', '\r'), (lines, end) =>
        calm(lines.join(end)),
      ),
      { numRuns: 1000 },
    )
    fc.assert(
      fc.property(fc.array(fc.array(line, { maxLength: 8 }), { maxLength: 8 }), (events) =>
        calm(file(...events.map((lines) => ['DTSTART:20260203', ...lines].join('\n')))),
      ),
      { numRuns: 1000 },
    )
  })

  it('is parsed in bounded time', () => {
    const never = 'DTSTART:20260203\nRRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30'
    const often = 'DTSTART:20260203\nRRULE:FREQ=DAILY;COUNT=15000'
    const exdates = `DTSTART:20260203\n${'RRULE:FREQ=DAILY;COUNT=19000\n'.repeat(50)}EXDATE:20260203`
    for (const text of [
      file(...Array.from({ length: 900 }, () => never)),
      file(...Array.from({ length: 900 }, () => often)),
      file(exdates),
      `BEGIN:VCALENDAR\nX${';a=b'.repeat(400_000)}:1\nEND:VCALENDAR`,
      `BEGIN:VCALENDAR\nX:1${'\n y'.repeat(400_000)}\nEND:VCALENDAR`,
      'BEGIN:A\n'.repeat(200_000),
    ]) {
      const started = cpuMs()
      expect(calm(text)).toBe(true)
      expect(cpuMs() - started).toBeLessThan(5000)
    }
  })
})
