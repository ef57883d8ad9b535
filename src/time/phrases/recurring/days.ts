import { WakefulError } from '../../../error.ts'
import { MONTHS, ordinal, WEEKDAYS } from '../../text/index.ts'
import { temporal } from '../../zones/index.ts'
import { readDate } from '../date.ts'
import type { MonthDay, NthWeekday, ParsedDays, ParsedRecurrence } from './parsed.ts'

/** The days that a clause names, and how many words it used. */
export interface DaysMatch {
  parts: ParsedDays & Pick<ParsedRecurrence, 'workingDay' | 'workingDays'>
  used: number
}

const ORDINALS = new Map('first second third fourth fifth'.split(' ').map((word, index) => [word, index + 1]))
const WORKDAYS = [1, 2, 3, 4, 5]
const WEEKEND = [6, 7]
const TO = new Set(['to', 'through', 'thru', '-'])
const NTH_MAX = 5
/** An arbitrary day, because months and days without a year do not depend on it. */
const SOME_DAY = temporal.PlainDate.from('2000-01-01')

/** Parses days at the start of these words: weekdays, days of the month, or days of the year. */
export function readDays(words: string[]): DaysMatch | null {
  const the = words[0] === 'the' ? 1 : 0
  const rest = words.slice(the)
  const read = readWeekdays(rest) ?? readOrdinals(rest, the === 1) ?? readYearDay(rest)
  return read === null ? null : { parts: read.parts, used: read.used + the }
}

/** 'first', '1st' or 'last' as a position in the month (last is -1); null for any other word. */
export function ordinalOf(word: string | undefined): number | null {
  return word === 'last' ? -1 : (ORDINALS.get(word ?? '') ?? ordinal(word))
}

/** Parses 'monday and thursday', 'mondays', 'mon-fri', 'monday to friday', 'weekdays', 'weekends', 'working days'. */
export function readWeekdays(
  words: string[],
): { parts: { weekdays: number[]; workingDays?: true }; used: number } | null {
  const days = new Set<number>()
  let used = 0
  let working = false
  for (;;) {
    const and = used === 0 ? 0 : andLength(words[used])
    const item = readWeekdayItem(words.slice(used + and))
    if (item === null) break
    for (const day of item.days) days.add(day)
    working ||= workingDayLength(words.slice(used + and)) > 0
    used += and + item.used
  }
  const weekdays = [...days].sort((a, b) => a - b)
  return used === 0 ? null : { parts: { weekdays, ...(working && { workingDays: true }) }, used }
}

/** Whether these words start with a range of weekdays, such as 'mon-fri' or 'monday to friday'. */
export function isWeekdayRange(words: string[]): boolean {
  return workingDayLength(words) === 0 && (readWeekdayItem(words)?.days.length ?? 0) > 1
}

/** How many words at the start are 'working day', 'business days' or 'workday'; 0 if there are none. */
export function workingDayLength([first = '', second = '']: string[]): number {
  if (first === 'workday' || first === 'workdays') return 1
  return (first === 'working' || first === 'business') && (second === 'day' || second === 'days') ? 2 : 0
}

function readWeekdayItem(words: string[]): { days: number[]; used: number } | null {
  const [first = '', second = '', third] = words
  if (first === 'weekday' || first === 'weekdays') return { days: WORKDAYS, used: 1 }
  if (first === 'weekend' || first === 'weekends') return { days: WEEKEND, used: 1 }
  const working = workingDayLength(words)
  if (working > 0) return { days: WORKDAYS, used: working }
  const [from, until, more] = first.split('-')
  const hyphened = more === undefined && until !== undefined && until !== ''
  const start = weekdayOf(hyphened ? from : first)
  if (start === null) return null
  const end = hyphened ? weekdayOf(until) : TO.has(second) ? weekdayOf(third) : null
  if (end === null) return hyphened ? null : { days: [start], used: 1 }
  const length = ((end - start + 7) % 7) + 1
  const days = Array.from({ length }, (_, index) => ((start - 1 + index) % 7) + 1)
  return { days, used: hyphened ? 1 : 3 }
}

/** The weekday with this name, plural or short form. */
export function weekdayOf(word: string | undefined): number | null {
  const named = WEEKDAYS.get(word ?? '')
  if (named !== undefined) return named
  return word?.endsWith('days') ? (WEEKDAYS.get(word.slice(0, -1)) ?? null) : null
}

/** Parses '1st and 15th', 'first monday', 'first and third monday', 'last day', '24th of december'. */
function readOrdinals(words: string[], hasArticle: boolean): DaysMatch | null {
  const nths: NthWeekday[] = []
  const monthDays: MonthDay[] = []
  let used = 0
  for (;;) {
    const lead = used === 0 ? 0 : leadLength(words, used)
    const positions = readPositions(words.slice(used + lead))
    if (positions === null) break
    const after = used + lead + positions.used
    const working = workingDayLength(words.slice(after))
    if (working > 0) return readNthWorkingDay(positions.numbers, used > 0, after + working)
    const weekday = weekdayOf(words[after])
    if (weekday !== null) {
      for (const nth of positions.numbers) nths.push({ nth: assertNth(nth, words[after]!), weekday })
      used = after + 1
      continue
    }
    const days = readMonthDays(positions.numbers, words.slice(after))
    if (days === null) break
    // 'the first' and 'first of' mean a day of the month. A bare 'third', as in 'every third', is incomplete.
    const isBareOrdinal = ORDINALS.has(words[after - 1]!) && !hasArticle && words[after] !== 'of'
    if (isBareOrdinal && days.used === 0) break
    monthDays.push(...days.monthDays)
    used = after + days.used
  }
  if (used === 0) return null
  const parsed = {
    ...(nths.length > 0 && { nths: distinctNths(nths) }),
    ...(monthDays.length > 0 && { monthDays: distinctDays(monthDays) }),
  }
  if (nths.length > 0) return { parts: parsed, used }
  const of = words[used] === 'of' ? 1 : 0
  const months = readMonths(words.slice(used + of))
  return months === null
    ? { parts: parsed, used }
    : { parts: { ...parsed, ...months.parts }, used: used + of + months.used }
}

/** 'third working day', 'last business day': a rule has only one, because it is stored as one exclusion with one `offset`. */
function readNthWorkingDay(numbers: number[], followsOtherDays: boolean, used: number): DaysMatch {
  const [nth, more] = numbers as [number, number?]
  if (more === undefined && !followsOtherDays) return { parts: { workingDay: nth }, used }
  throw invalid('only one working day of a month can be named. Set an alarm for each')
}

/** Parses positions in the month: 'first and third', '1st 15th and last'. */
function readPositions(words: string[]): { numbers: number[]; used: number } | null {
  const numbers: number[] = []
  let used = 0
  for (;;) {
    const lead = used === 0 ? 0 : leadLength(words, used)
    const number = ordinalOf(words[used + lead])
    if (number === null) break
    numbers.push(number)
    used += lead + 1
  }
  return used === 0 ? null : { numbers, used }
}

function readMonthDays(numbers: number[], [word]: string[]): { monthDays: MonthDay[]; used: number } | null {
  if (word === 'weekday') {
    const [number] = numbers
    if (numbers.length === 1 && number === -1) return { monthDays: ['last weekday'], used: 1 }
    if (numbers.length === 1 && number === 1) return { monthDays: ['first weekday'], used: 1 }
    throw invalid("only the 'first weekday' or the 'last weekday' of a month can be named")
  }
  const dayWordLength = word === 'day' || word === 'days' ? 1 : 0
  // 'last' alone does not say the last of what.
  if (dayWordLength === 0 && numbers.includes(-1)) return null
  return { monthDays: numbers.map(assertMonthDay), used: dayWordLength }
}

/** Parses days of every year: 'december 24', 'december 24 and 25', '24 december', '25/12'. */
function readYearDay(words: string[]): DaysMatch | null {
  const [first = ''] = words
  if (!MONTHS.has(first) && !/^\d/.test(first)) return null
  const read = readDate(words, SOME_DAY)
  if (read === null) return null
  if (read.date.kind === 'day') {
    throw invalid(`'${words.slice(0, read.used).join(' ')}' has a year, so it occurs once. Use 'december 24'`)
  }
  if (read.date.kind !== 'month day') return null
  const monthDays: MonthDay[] = [read.date.day]
  let { used } = read
  // Matches 'december 24 and 25', but not the hour in 'december 24 and 5pm'.
  while (MONTHS.has(first) && andLength(words[used]) === 1) {
    const day =
      ordinal(words[used + 1]) ?? (/^\d{1,2}$/.test(words[used + 1] ?? '') ? Number(words[used + 1]) : null)
    if (day === null) break
    monthDays.push(assertMonthDay(day))
    used += 2
  }
  return { parts: { months: [read.date.month], monthDays: distinctDays(monthDays) }, used }
}

/** Parses 'december', 'june and july' at the start of these words. */
export function readMonths(words: string[]): { parts: { months: number[] }; used: number } | null {
  const months = new Set<number>()
  let used = 0
  for (;;) {
    const and = used === 0 ? 0 : andLength(words[used])
    const month = MONTHS.get(words[used + and] ?? '')
    if (month === undefined) break
    months.add(month)
    used += and + 1
  }
  return used === 0 ? null : { parts: { months: [...months].sort((a, b) => a - b) }, used }
}

/** How many words lead to the next item of a list: 'and', 'and the', or none after a comma. */
function leadLength(words: string[], index: number): number {
  const and = andLength(words[index])
  return and + (words[index + and] === 'the' ? 1 : 0)
}

/** 1 if the word joins two items of a list, otherwise 0. */
export function andLength(word: string | undefined): number {
  return word === 'and' || word === '&' ? 1 : 0
}

function distinctDays(days: MonthDay[]): MonthDay[] {
  const rank = (day: MonthDay) => (typeof day === 'number' ? day : 32)
  return [...new Set(days)].sort((a, b) => rank(a) - rank(b))
}

function distinctNths(nths: NthWeekday[]): NthWeekday[] {
  return [...new Map(nths.map((each) => [`${each.nth} ${each.weekday}`, each])).values()]
}

function assertNth(nth: number, weekday: string): number {
  if (nth >= 1 && nth <= NTH_MAX) return nth
  if (nth === -1) return nth
  throw invalid(`no month has ${nth} ${weekday}s. Use 'first' to 'fifth', or 'last'`)
}

function assertMonthDay(day: number): MonthDay {
  if (day === -1) return 'last'
  if (day >= 1 && day <= 31) return day
  throw invalid(`there is no day ${day} of a month. Use 1 to 31, or 'the last day'`)
}

function invalid(detail: string): WakefulError {
  return new WakefulError('phrase.unsupported', { text: null, detail })
}
