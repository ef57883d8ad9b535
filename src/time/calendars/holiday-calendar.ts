import { inField, unknownField, WakefulError } from '../../error.ts'
import {
  LABEL_LENGTH_MAX,
  listOf,
  normalizeLabel,
  objectOf,
  quote,
  WEEKDAYS,
  wholeFrom,
} from '../text/index.ts'
import { formatDay, parseDay } from '../zones/index.ts'
import { readIcs } from './ics.ts'
import { CALENDAR_DAYS_MAX } from './ics-event.ts'

/** A named set of days off: plain data, as it is stored. */
export interface HolidayCalendar {
  readonly name: string
  /** Increases with every edit; set by the store. */
  readonly version: number
  /** The label of each day, by date ('2026-12-25'); '' if it has none. */
  readonly dates: Readonly<Record<string, string>>
  /** Weekdays that are off as well, Monday is 1. */
  readonly weekend: readonly number[]
}

/** The input that makes a calendar: dates, the text of an .ics file, weekdays, or several of these. */
export interface CalendarInput {
  /** Present in the result of `get`; ignored. */
  name?: string
  /** Dates such as '2026-12-25' and ranges such as '2026-12-24..2026-12-31', as a list or with a label for each. */
  dates?: readonly string[] | Readonly<Record<string, string>>
  /** RFC 5545 text; its all-day events are days off. */
  ics?: string
  /** Weekdays that are off, such as 'fri' and 'saturday', or 1 (Monday) to 7. */
  weekend?: readonly (string | number)[]
}

/** Words that mean Saturday and Sunday in a list of calendars. */
export const WEEKEND_WORDS: readonly string[] = ['weekend', 'weekends']

const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/
const FIELDS = ['dates', 'ics', 'weekend']
const RANGE = /^(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)$/

/** Whether a value is a valid name of a calendar. */
export function isCalendarName(name: unknown): name is string {
  return typeof name === 'string' && NAME.test(name) && !WEEKEND_WORDS.includes(name)
}

/** A calendar as parsed, and notes about what was left out. */
interface ParsedCalendar {
  readonly calendar: Omit<HolidayCalendar, 'version'>
  readonly notes: string[]
}

/**
 * Parses the input of a calendar, or refuses it with the invalid date or line. Recurring events are written out from
 * `now` on. The days are added to those of `before`, if there is one.
 */
export function readCalendar(
  name: string,
  input: CalendarInput,
  now: number,
  before?: HolidayCalendar,
): ParsedCalendar {
  if (!isCalendarName(name)) throw new WakefulError('calendar.name', { name: quote(name) }, { field: 'name' })
  if (typeof input !== 'object' || input === null || Array.isArray(input)) throw malformedError()
  const unknown = Object.keys(input).find((field) => field !== 'name' && !FIELDS.includes(field))
  if (unknown !== undefined) throw unknownField(unknown, FIELDS)
  const { dates, ics, weekend = [] } = input
  if (dates === undefined && ics === undefined && input.weekend === undefined) throw malformedError()
  const read =
    ics === undefined
      ? { days: new Map<number, string>(), notes: [] }
      : inField('ics', () => readIcs(ics, now))
  if (dates !== undefined) inField('dates', () => addDates(read.days, dates))
  const notes = [...read.notes]
  if (ics !== undefined && read.days.size === 0)
    notes.push('the .ics file has no all-day event: no day is off by it')
  for (const [date, label] of Object.entries(before?.dates ?? {})) {
    const day = parseDay(date)!
    if ((read.days.get(day) ?? '') === '') read.days.set(day, label)
  }
  assertFew(read.days.size)
  const sorted = [...read.days].sort(([a], [b]) => a - b)
  const calendar = {
    name,
    dates: Object.fromEntries(sorted.map(([day, label]) => [formatDay(day), normalizeLabel(label)])),
    weekend: inField('weekend', () => readWeekend([...(before?.weekend ?? []), ...readWeekend(weekend)])),
  }
  if (sorted.length === 0 && calendar.weekend.length === 0) notes.push('it has no days off yet')
  return { calendar, notes }
}

/** Adds dates with their labels, which override those of an .ics file. */
function addDates(days: Map<number, string>, dates: NonNullable<CalendarInput['dates']>): void {
  const input: unknown = dates
  if (typeof input !== 'object' || input === null) throw malformedError()
  const pairs: [unknown, unknown][] = Array.isArray(input)
    ? input.map((date) => [date, ''])
    : Object.entries(input)
  assertFew(pairs.length)
  for (const [date, label] of pairs) {
    const [first, last] = readDays(date)
    if (typeof label !== 'string') throw new WakefulError('calendar.label', { date: quote(date) })
    for (let day = first; day <= last; day++) if (label !== '' || !days.has(day)) days.set(day, label)
  }
}

/** The first and last day of a date or a range. */
function readDays(date: unknown): [first: number, last: number] {
  const text = typeof date === 'string' ? date.trim() : ''
  const [, from = text, to = text] = RANGE.exec(text) ?? []
  const [first, last] = [parseDay(from), parseDay(to)]
  if (first === null || last === null) {
    throw new WakefulError('calendar.date', { value: quote(date) })
  }
  if (last < first) throw new WakefulError('calendar.range', { value: quote(date) })
  assertFew(last - first + 1)
  return [first, last]
}

/** Parses the weekdays that are off every week; all seven are refused. */
export function readWeekend(input: unknown): number[] {
  if (!Array.isArray(input)) throw new WakefulError('weekend.malformed', {})
  const days = input.map((name: unknown) => {
    const day = typeof name === 'string' ? WEEKDAYS.get(name.trim().toLowerCase()) : name
    if (typeof day === 'number' && Number.isInteger(day) && day >= 1 && day <= 7) return day
    throw new WakefulError('weekend.unknown_day', { value: quote(name) })
  })
  const weekend = [...new Set(days)].sort((a, b) => a - b)
  if (weekend.length < 7) return weekend
  throw new WakefulError('exclude.all_days', {}, { code: 'invalid_request' })
}

/** The last date of a calendar; null if it has none. */
export function lastDate({ dates }: Pick<HolidayCalendar, 'dates'>): string | null {
  let last: string | null = null
  for (const date of Object.keys(dates)) if (last === null || date > last) last = date
  return last
}

/** Whether a value from a database is a valid calendar. */
export const isHolidayCalendar = objectOf({
  name: isCalendarName,
  version: wholeFrom(0, Number.MAX_SAFE_INTEGER),
  dates: isDates,
  weekend: listOf(wholeFrom(1, 7), 0, 6),
}) as (value: unknown) => value is HolidayCalendar

function isDates(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const pairs: [string, unknown][] = Object.entries(value)
  const isDay = ([date, label]: [string, unknown]) =>
    parseDay(date) !== null && typeof label === 'string' && label.length <= LABEL_LENGTH_MAX
  return pairs.length <= CALENDAR_DAYS_MAX && pairs.every(isDay)
}

function assertFew(days: number): void {
  if (days <= CALENDAR_DAYS_MAX) return
  throw new WakefulError('calendar.too_many_days', { count: days, max: CALENDAR_DAYS_MAX })
}

function malformedError(): WakefulError {
  return new WakefulError('calendar.malformed', {})
}
