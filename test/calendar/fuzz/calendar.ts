import { type HolidayCalendar, isHolidayCalendar, readCalendar } from '../../../src/time/index.ts'
import type { Random } from '../../random.ts'
import { Bogus, isDate } from './checks.ts'
import { pick, type Subject } from './subject.ts'
import { type Language, textFrom } from './texts.ts'

const LINES = [
  'DTSTART;VALUE=DATE:20261225',
  'DTSTART;VALUE=DATE:20280229',
  'DTSTART;TZID=Europe/Rome:20261225T090000',
  'DTEND;VALUE=DATE:20261227',
  'DURATION:P2D',
  'RRULE:FREQ=YEARLY',
  'RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH',
  'RRULE:FREQ=DAILY;COUNT=10',
  'RDATE;VALUE=DATE:20270101,20280101',
  'EXDATE;VALUE=DATE:20271225',
  'RECURRENCE-ID;VALUE=DATE:20281225',
  'UID:christmas',
  'STATUS:CANCELLED',
  'SUMMARY;LANGUAGE="en":Christmas\\, day of\\n  light',
  'X-FOLDED:a\r\n b',
]

/** Generates .ics files. */
const ICS: Language = {
  valid(random: Random) {
    const event = () => {
      const lines = Array.from({ length: random.between(0, 6) }, () => pick(random, LINES))
      return ['BEGIN:VEVENT', LINES[0]!, ...lines, 'END:VEVENT']
    }
    const events = Array.from({ length: random.between(1, 4) }, event).flat()
    return ['BEGIN:VCALENDAR', ...events, 'END:VCALENDAR'].join(random.chance(0.7) ? '\r\n' : '\n')
  },
  pieces: [
    ...LINES,
    'BEGIN:VEVENT\n',
    'END:VEVENT\n',
    'BEGIN:VTODO\n',
    'DTSTART:',
    ';',
    ':',
    '"',
    '\\',
    '\n ',
    '20260230',
  ],
}

/** The parser of .ics files. */
export const calendar: Subject<string, Omit<HolidayCalendar, 'version'>> = {
  name: 'calendar (.ics)',
  make: (random) => textFrom(random, ICS),
  read: (ics, { now }) => readCalendar('fuzzed', { ics }, now).calendar,
  check(_ics, answer) {
    if (!isHolidayCalendar({ ...answer, version: 1 })) throw new Bogus('it would not be read back')
    for (const date of Object.keys(answer.dates)) {
      const [year, month, day] = date.split('-').map(Number)
      if (!isDate(year!, month!, day!)) throw new Bogus(`there is no ${date}`)
    }
  },
}
