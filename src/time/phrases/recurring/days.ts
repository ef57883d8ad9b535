import { WakefulError } from '../../../error.ts'
import { MONTHS, ORDINAL_NAMES, ordinal, WEEKDAYS } from '../../text/index.ts'
import { temporal } from '../../zones/index.ts'
import { dayNumber, readDate } from '../date.ts'
import { workingDayLength } from '../working-days.ts'
import type { Clause, MonthDay, NthWeekday } from './parsed.ts'

const ORDINALS = new Map(ORDINAL_NAMES.map((word, index) => [word, index + 1]))
const WORKDAYS = [1, 2, 3, 4, 5]
const WEEKEND = [6, 7]
const TO = new Set(['to', 'through', 'thru', '-'])
const NTH_MAX = 5
/** An arbitrary day, because months and days without a year do not depend on it. */
const SOME_DAY = temporal.PlainDate.from('2000-01-01')

/** Parses days at the start of these words: weekdays, days of the month, or days of the year. */
export function readDays(words: string[]): Clause | null {
  const the = words[0] === 'the' ? 1 : 0
  const rest = words.slice(the)
  return after(the, readWeekdays(rest) ?? readOrdinals(rest, the === 1) ?? readYearDay(rest))
}

/** A clause with words before it. */
export function after(words: number, clause: Clause | null): Clause | null {
  return clause === null ? null : { ...clause, used: clause.used + words }
}

/**
 * Reads the items of a list at the start of these words, with 'and' or nothing between them. `readItem` returns how many
 * words an item used, or 0 if there is none; so does this.
 */
export function readList(
  words: string[],
  readItem: (rest: string[]) => number,
  jointLength: (rest: string[]) => number = ([word]) => andLength(word),
): number {
  for (let used = 0; ; ) {
    const joint = used === 0 ? 0 : jointLength(words.slice(used))
    const item = readItem(words.slice(used + joint))
    if (item === 0) return used
    used += joint + item
  }
}

/** 'first', '1st' or 'last' as a position in the month (last is -1); null for any other word. */
export function ordinalOf(word: string | undefined): number | null {
  return word === 'last' ? -1 : (ORDINALS.get(word ?? '') ?? ordinal(word))
}

/** Parses 'monday and thursday', 'mondays', 'mon-fri', 'monday to friday', 'weekdays', 'weekends', 'working days'. */
export function readWeekdays(words: string[]): (Clause & { parts: { weekdays: number[] } }) | null {
  const days = new Set<number>()
  let isWorking: true | undefined
  const used = readList(words, (rest) => {
    const item = readWeekdayItem(rest)
    for (const day of item?.days ?? []) days.add(day)
    if (workingDayLength(rest) > 0) isWorking = true
    return item?.used ?? 0
  })
  const weekdays = [...days].sort((a, b) => a - b)
  return used === 0 ? null : { parts: { weekdays, workingDays: isWorking }, used }
}

/** Whether these words start with a range of weekdays, such as 'mon-fri' or 'monday to friday'. */
export function isWeekdayRange(words: string[]): boolean {
  return workingDayLength(words) === 0 && (readWeekdayItem(words)?.days.length ?? 0) > 1
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
export function weekdayOf(word = ''): number | null {
  return WEEKDAYS.get(word) ?? WEEKDAYS.get(word.replace(/days$/, 'day')) ?? null
}

/** Parses '1st and 15th', 'first monday', 'first and third monday', 'last day', '24th of december', 'third working day'. */
function readOrdinals(words: string[], hasArticle: boolean): Clause | null {
  const nths = new Map<string, NthWeekday>()
  const monthDays: MonthDay[] = []
  let workingDay: number | undefined
  const readItem = (rest: string[]) => {
    const positions: number[] = []
    const used = workingDay === undefined ? readPositions(rest, positions) : 0
    if (used === 0) return 0
    const next = rest[used]
    const working = workingDayLength(rest.slice(used))
    if (working > 0) {
      // A rule has only one, because it is stored as one exclusion with one `offset`.
      if (positions.length > 1 || nths.size + monthDays.length > 0) {
        throw new WakefulError('phrase.several_working_days', {})
      }
      workingDay = positions[0]
      return used + working
    }
    const weekday = weekdayOf(next)
    if (weekday !== null) {
      for (const nth of positions) nths.set(`${nth} ${weekday}`, { nth: assertNth(nth, next!), weekday })
      return used + 1
    }
    const isDayWord = next === 'weekday' || next === 'day' || next === 'days'
    // 'last' alone does not say the last of what.
    if (!isDayWord && positions.includes(-1)) return 0
    const days = next === 'weekday' ? [edgeWeekday(positions)] : positions.map(assertMonthDay)
    // 'the first' and 'first of' mean a day of the month. A bare 'third', as in 'every third', is incomplete.
    if (!isDayWord && ORDINALS.has(rest[used - 1]!) && !hasArticle && next !== 'of') return 0
    monthDays.push(...days)
    return used + (isDayWord ? 1 : 0)
  }
  const used = readList(words, readItem, leadLength)
  if (used === 0) return null
  if (workingDay !== undefined) return { parts: { workingDay }, used }
  const parts = {
    nths: nths.size > 0 ? [...nths.values()] : undefined,
    monthDays: monthDays.length > 0 ? distinctDays(monthDays) : undefined,
  }
  const of = words[used] === 'of' ? 1 : 0
  const months = nths.size > 0 ? null : readMonths(words.slice(used + of))
  return months === null
    ? { parts, used }
    : { parts: { ...parts, ...months.parts }, used: used + of + months.used }
}

/** Parses positions in the month: 'first and third', '1st 15th and last'. */
function readPositions(words: string[], positions: number[]): number {
  const readItem = ([word]: string[]) => {
    const position = ordinalOf(word)
    if (position !== null) positions.push(position)
    return position === null ? 0 : 1
  }
  return readList(words, readItem, leadLength)
}

function edgeWeekday([position, more]: number[]): MonthDay {
  if (more === undefined && position === -1) return 'last weekday'
  if (more === undefined && position === 1) return 'first weekday'
  throw new WakefulError('phrase.edge_weekday', {})
}

/** Parses days of every year: 'december 24', 'december 24 and 25', '24 december', '25/12'. */
function readYearDay(words: string[]): Clause | null {
  const [first = ''] = words
  if (!MONTHS.has(first) && !/^\d/.test(first)) return null
  const read = readDate(words, SOME_DAY)
  if (read === null) return null
  const { date } = read
  if (date.kind === 'day') {
    throw new WakefulError('phrase.has_year', { word: words.slice(0, read.used).join(' ') })
  }
  if (date.kind !== 'month day') return null
  const monthDays: MonthDay[] = [date.day]
  let { used } = read
  // Matches 'december 24 and 25', but not the hour in 'december 24 and 5pm'.
  while (MONTHS.has(first) && andLength(words[used]) === 1) {
    const day = dayNumber(words[used + 1])
    if (day === null) break
    monthDays.push(assertMonthDay(day))
    used += 2
  }
  return { parts: { months: [date.month], monthDays: distinctDays(monthDays) }, used }
}

/** Parses 'december', 'june and july' at the start of these words. */
export function readMonths(words: string[]): Clause | null {
  const months = new Set<number>()
  const used = readList(words, ([word = '']) => {
    const month = MONTHS.get(word)
    if (month !== undefined) months.add(month)
    return month === undefined ? 0 : 1
  })
  return used === 0 ? null : { parts: { months: [...months].sort((a, b) => a - b) }, used }
}

/** How many words lead to the next item of a list: 'and', 'and the', or none after a comma. */
function leadLength(words: string[]): number {
  const and = andLength(words[0])
  return and + (words[and] === 'the' ? 1 : 0)
}

/** 1 if the word joins two items of a list, otherwise 0. */
function andLength(word: string | undefined): number {
  return word === 'and' || word === '&' ? 1 : 0
}

function distinctDays(days: MonthDay[]): MonthDay[] {
  const rank = (day: MonthDay) => (typeof day === 'number' ? day : 32)
  return [...new Set(days)].sort((a, b) => rank(a) - rank(b))
}

function assertNth(nth: number, weekday: string): number {
  if (nth === -1 || (nth >= 1 && nth <= NTH_MAX)) return nth
  throw new WakefulError('phrase.no_such_weekday', { nth, day: weekday })
}

function assertMonthDay(day: number): MonthDay {
  if (day === -1) return 'last'
  if (day >= 1 && day <= 31) return day
  throw new WakefulError('phrase.no_such_month_day', { day })
}
