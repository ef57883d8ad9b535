import { WakefulError } from '../../error.ts'
import { quote } from '../text/index.ts'
import { type RruleDate, readRruleDate } from './date-text.ts'

/** How often an RRULE repeats. */
export type RruleFreq = 'SECONDLY' | 'MINUTELY' | 'HOURLY' | 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'YEARLY'

/** A weekday (Monday is 0), and which one of the month or year: negative counts from the end, 0 is every one. */
export interface RruleWeekday {
  weekday: number
  nth: number
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

/** Parses the parts of one RRULE, such as `FREQ=WEEKLY;BYDAY=MO,WE`, and refuses what RFC 5545 does not allow. */
export function readRruleParts(text: string): RruleParts {
  const values = split(text)
  const freq = values.get('FREQ')
  if (freq === undefined) throw refused(`${quote(text)} has no FREQ. Start with a FREQ such as FREQ=DAILY`)
  if (!FREQS.includes(freq)) throw refused(`FREQ=${quote(freq)} is not one of ${FREQS.join(', ')}`)
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
      throw refused(
        `${quote(piece)} is not a part of an RRULE. Write NAME=value, with parts separated by ';'`,
      )
    }
    if (!PARTS.includes(name)) throw refused(`${quote(name)} is unknown: ${hintFor(name)}`)
    if (values.has(name)) throw refused(`${name} appears twice. Use it once, with values separated by ','`)
    values.set(name, value)
  }
  return values
}

function hintFor(name: string): string {
  if (name === 'DTSTART' || name === 'EXDATE' || name === 'RDATE') {
    return `${name} stands on a line of its own, as ${name}:20261224T180000`
  }
  return `an RRULE has ${PARTS.join(', ')}`
}

function readNumber(name: string, value: string, min: number, max: number): number {
  const number = /^\+?\d{1,15}$/.test(value) ? Number(value) : Number.NaN
  if (number >= min && number <= max) return number
  throw refused(`${name}=${quote(value)} is not a whole number from ${min} to ${max}`)
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
    const range = fromEnd ? `${min} to ${max} or -${max} to -${min}` : `${min} to ${max}`
    throw refused(`${name} ${quote(item)} is not a whole number from ${range}`)
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
  const example = ordinal
    ? ", with a number from 1 to 53 in front for the nth ('2MO'), negative from the end"
    : ''
  throw refused(`${name} ${quote(value)} is not a weekday. Write ${WEEKDAYS.join(', ')}${example}`)
}

/** Refuses parts that cannot be used together. RFC 5545, section 3.3.10, has the table. */
function checkCombination(parts: RruleParts): void {
  const { freq } = parts
  if (parts.count !== undefined && parts.until !== undefined) {
    throw refused('COUNT and UNTIL exclude each other. Use one of them')
  }
  if (parts.byWeekNo !== undefined && freq !== 'YEARLY') throw misplaced('BYWEEKNO', 'YEARLY', freq)
  if (parts.byYearDay !== undefined && ['DAILY', 'WEEKLY', 'MONTHLY'].includes(freq)) {
    throw misplaced('BYYEARDAY', 'YEARLY, HOURLY, MINUTELY or SECONDLY', freq)
  }
  if (parts.byMonthDay !== undefined && freq === 'WEEKLY')
    throw misplaced('BYMONTHDAY', 'any but WEEKLY', freq)
  if (parts.byDay?.some(({ nth }) => nth !== 0)) {
    if (freq !== 'MONTHLY' && freq !== 'YEARLY')
      throw misplaced('a BYDAY with a number', 'MONTHLY or YEARLY', freq)
    if (parts.byWeekNo !== undefined)
      throw refused('BYDAY with a number cannot be used with BYWEEKNO. Use one of them')
  }
  if (parts.bySetPos !== undefined && !hasOtherBy(parts)) {
    throw refused('BYSETPOS needs another BY part to select from, such as BYDAY')
  }
}

function hasOtherBy(parts: RruleParts): boolean {
  return Object.keys(parts).some((name) => name.startsWith('by') && name !== 'bySetPos')
}

function misplaced(what: string, where: string, freq: string): WakefulError {
  return refused(`${what} cannot be used with FREQ=${freq}, only with ${where}`)
}

/** The error for an invalid recurrence. */
export function refused(detail: string): WakefulError {
  return new WakefulError('rrule.invalid', { detail })
}
