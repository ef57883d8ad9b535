import { WakefulError } from '../../error.ts'
import { DAY_S, dayOf, YEAR_MIN } from '../civil/index.ts'
import { quote } from '../text/index.ts'

/** How often an RRULE repeats. */
export type RruleFreq = 'SECONDLY' | 'MINUTELY' | 'HOURLY' | 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'YEARLY'

/** A weekday (Monday is 0), and which one of the month or year: negative counts from the end, 0 is every one. */
export interface RruleWeekday {
  weekday: number
  nth: number
}

/** A date or time of iCalendar. */
export interface RruleDate {
  /** A day without a time, a time on some wall clock, or a time in UTC. */
  kind: 'date' | 'local' | 'utc'
  /** Seconds since 1970 on that clock; for a day, its midnight. */
  second: number
}

/** The validated parts of one RRULE; lists are sorted, without duplicates. */
export interface RruleParts {
  freq: RruleFreq
  interval: number
  count?: number
  until?: RruleDate
  /** The weekday weeks start on; Monday is 0. */
  wkst: number
  byMonth?: number[]
  byWeekNo?: number[]
  byYearDay?: number[]
  byMonthDay?: number[]
  byDay?: RruleWeekday[]
  byHour?: number[]
  byMinute?: number[]
  bySecond?: number[]
  bySetPos?: number[]
}

const FREQS: readonly string[] = ['SECONDLY', 'MINUTELY', 'HOURLY', 'DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY']
const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']
const DATE = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z)?)?$/i
const INTERVAL_MAX = 999_999_999
const COUNT_MAX = 999_999_999_999

type ListField = Exclude<keyof RruleParts & `by${string}`, 'byDay'>

/** Per list: its field, its bounds, and whether negative numbers count from the end. */
const LISTS: Readonly<Record<string, [field: ListField, min: number, max: number, fromEnd: boolean]>> = {
  BYMONTH: ['byMonth', 1, 12, false],
  BYWEEKNO: ['byWeekNo', 1, 53, true],
  BYYEARDAY: ['byYearDay', 1, 366, true],
  BYMONTHDAY: ['byMonthDay', 1, 31, true],
  BYHOUR: ['byHour', 0, 23, false],
  BYMINUTE: ['byMinute', 0, 59, false],
  BYSECOND: ['bySecond', 0, 60, false],
  BYSETPOS: ['bySetPos', 1, 366, true],
}
const OTHER_PARTS = ['FREQ', 'INTERVAL', 'COUNT', 'UNTIL', 'WKST', 'BYDAY']
const PARTS = [...OTHER_PARTS, ...Object.keys(LISTS)]
/** The parts that only some frequencies may have, by RFC 5545, section 3.3.10. */
const FREQS_OF_PARTS: readonly [part: string, allowed: readonly string[]][] = [
  ['BYWEEKNO', ['YEARLY']],
  ['BYYEARDAY', ['YEARLY', 'HOURLY', 'MINUTELY', 'SECONDLY']],
  ['BYMONTHDAY', FREQS.filter((freq) => freq !== 'WEEKLY')],
]
/** What has a line of its own. */
const LINES = ['DTSTART', 'EXDATE', 'RDATE']

/** Parses the parts of one RRULE, such as `FREQ=WEEKLY;BYDAY=MO,WE`, and refuses what RFC 5545 does not allow. */
export function readRruleParts(text: string): RruleParts {
  const values = split(text)
  const freq = values.get('FREQ')
  if (freq === undefined) throw new WakefulError('rrule.no_freq', { text: quote(text) })
  if (!FREQS.includes(freq)) throw new WakefulError('rrule.freq', { value: quote(freq), allowed: FREQS })
  const parts: RruleParts = { freq: freq as RruleFreq, interval: 1, wkst: 0 }
  for (const [name, value] of values) {
    const spec = LISTS[name]
    if (spec !== undefined) parts[spec[0]] = readList(name, value, spec)
    else if (name === 'INTERVAL') parts.interval = readNumber(name, value, 1, INTERVAL_MAX)
    else if (name === 'COUNT') parts.count = readNumber(name, value, 1, COUNT_MAX)
    else if (name === 'UNTIL') parts.until = readRruleDate(value, name)
    else if (name === 'WKST') parts.wkst = readWeekday(name, value, false).weekday
    else if (name === 'BYDAY') parts.byDay = readWeekdays(value)
  }
  checkCombination(parts)
  return parts
}

function split(text: string): Map<string, string> {
  const values = new Map<string, string>()
  const pieces = text.toUpperCase().split(';')
  if (pieces.length > 1 && pieces.at(-1)!.trim() === '') pieces.pop()
  for (const piece of pieces) {
    const [name, value, more] = piece.split('=').map((side) => side.trim()) as [string, string?, string?]
    if (value === undefined || value === '' || more !== undefined) {
      throw new WakefulError('rrule.not_a_part', { text: quote(piece) })
    }
    if (LINES.includes(name)) throw new WakefulError('rrule.line_as_part', { part: name })
    if (!PARTS.includes(name))
      throw new WakefulError('rrule.unknown_part', { part: quote(name), known: PARTS })
    if (values.has(name)) throw new WakefulError('rrule.part_twice', { part: name })
    values.set(name, value)
  }
  return values
}

function readNumber(name: string, value: string, min: number, max: number): number {
  const number = /^\+?\d{1,15}$/.test(value) ? Number(value) : Number.NaN
  if (number >= min && number <= max) return number
  throw new WakefulError('rrule.number', { part: name, value: quote(value), min, max, negative: false })
}

function readList(
  name: string,
  value: string,
  [, min, max, fromEnd]: [ListField, number, number, boolean],
): number[] {
  const numbers = value.split(',').map((item) => {
    const number = /^[+-]?\d{1,3}$/.test(item.trim()) ? Number(item) : Number.NaN
    const size = fromEnd ? Math.abs(number) : number
    if (size >= min && size <= max) return number
    throw new WakefulError('rrule.number', { part: name, value: quote(item), min, max, negative: fromEnd })
  })
  // A leap second becomes the second before it, as RFC 5545 requires for clocks without leap seconds.
  const valid = name === 'BYSECOND' ? numbers.map((second) => Math.min(second, 59)) : numbers
  return [...new Set(valid)].sort((a, b) => a - b)
}

function readWeekdays(value: string): RruleWeekday[] {
  const found = new Map<string, RruleWeekday>()
  for (const item of value.split(',')) {
    const day = readWeekday('BYDAY', item.trim(), true)
    found.set(`${day.nth} ${day.weekday}`, day)
  }
  return [...found.values()].sort((a, b) => a.nth - b.nth || a.weekday - b.weekday)
}

function readWeekday(name: string, value: string, ordinal: boolean): RruleWeekday {
  const match = /^([+-]?\d{1,2})?([A-Z]{2})$/.exec(value)
  const weekday = WEEKDAYS.indexOf(match?.[2] ?? '')
  const nth = Number(match?.[1] ?? 0)
  const hasNumber = match?.[1] !== undefined
  const isNumberValid = ordinal && nth !== 0 && Math.abs(nth) <= 53
  if (weekday !== -1 && (!hasNumber || isNumberValid)) return { weekday, nth }
  const params = { part: name, value: quote(value), known: WEEKDAYS, numbered: ordinal }
  throw new WakefulError('rrule.weekday', params)
}

/** Refuses parts that cannot be used together. */
function checkCombination(parts: RruleParts): void {
  const { freq } = parts
  if (parts.count !== undefined && parts.until !== undefined) {
    throw new WakefulError('rrule.count_and_until', {})
  }
  for (const [part, allowed] of FREQS_OF_PARTS) {
    if (parts[LISTS[part]![0]] === undefined || allowed.includes(freq)) continue
    throw new WakefulError('rrule.freq_of_part', { part, freq, allowed })
  }
  if (parts.byDay?.some(({ nth }) => nth !== 0)) {
    if (freq !== 'MONTHLY' && freq !== 'YEARLY')
      throw new WakefulError('rrule.freq_of_numbered_day', { freq })
    if (parts.byWeekNo !== undefined) throw new WakefulError('rrule.numbered_day_and_week', {})
  }
  if (parts.bySetPos !== undefined && !hasOtherBy(parts)) {
    throw new WakefulError('rrule.setpos_alone', {})
  }
}

function hasOtherBy(parts: RruleParts): boolean {
  return Object.keys(parts).some((name) => name.startsWith('by') && name !== 'bySetPos')
}

/** Parses a date (20261224) or a time (20261224T180000, with a trailing Z for UTC). */
export function readRruleDate(text: string, where: string): RruleDate {
  const match = DATE.exec(text)
  if (match === null) {
    throw new WakefulError('rrule.date', { part: where, text: quote(text) })
  }
  const [year, month, dayOfMonth, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0))
  const day = dayOf(year!, month!, dayOfMonth!)
  if (day === null || hour! > 23 || minute! > 59 || second! > 60) {
    throw new WakefulError('rrule.no_such_date', { part: where, text: quote(text) })
  }
  if (year! < YEAR_MIN) {
    throw new WakefulError('rrule.date_out_of_range', { part: where, text: quote(text), min: YEAR_MIN })
  }
  const kind = match[4] === undefined ? 'date' : match[7] === undefined ? 'local' : 'utc'
  // A leap second becomes the second before it, as RFC 5545 requires for clocks without leap seconds.
  return { kind, second: day * DAY_S + hour! * 3600 + minute! * 60 + Math.min(second!, 59) }
}
