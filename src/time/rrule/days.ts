import {
  type DaysOfYear,
  daysByKind,
  isLeap,
  list,
  mod,
  monthOf,
  monthStarts,
  type Sequence,
  weekdayOf,
  yearStart,
} from '../civil/index.ts'
import type { RruleParts, RruleWeekday } from './parts.ts'

type DayParts = Pick<RruleParts, 'byMonth' | 'byWeekNo' | 'byYearDay' | 'byMonthDay' | 'byDay' | 'wkst'>

/** The days that a rule names in a month (0 to 11); the first is 0. */
export type DaysOfMonth = (year: number, month: number) => Sequence

// Keyed by the parsed parts, which rules with the same text and different starts share.
const yearsCache = new WeakMap<DayParts, DaysOfYear>()

/** Compiles the parts that name days of a year. A day must match all of them. */
export function daysOfYear(parts: DayParts): DaysOfYear {
  let compiled = yearsCache.get(parts)
  if (compiled === undefined) {
    compiled = daysByKind((year) => findDaysOfYear(parts, year))
    yearsCache.set(parts, compiled)
  }
  return compiled
}

/** Compiles the parts that name days of a month. A day must match all of them. */
export function daysOfMonth(parts: DayParts): DaysOfMonth {
  const known: Sequence[] = []
  return (year, month) => {
    if (parts.byMonth !== undefined && !parts.byMonth.includes(month + 1)) return NO_DAYS
    const starts = monthStarts(isLeap(year))
    const length = starts[month + 1]! - starts[month]!
    const firstWeekday = weekdayOf(yearStart(year) + starts[month]!)
    const kind = firstWeekday * 4 + length - 28
    known[kind] ??= list(findDaysOfMonth(parts, length, firstWeekday))
    return known[kind]
  }
}

const NO_DAYS = list([])

function findDaysOfYear(parts: DayParts, year: number): number[] {
  const leap = isLeap(year)
  const starts = monthStarts(leap)
  const length = leap ? 366 : 365
  const firstWeekday = weekdayOf(yearStart(year))
  const weekNumbers = parts.byWeekNo === undefined ? null : numberWeeks(year, parts.wkst)
  const found: number[] = []
  for (let day = 0; day < length; day++) {
    const month = monthOf(day, leap)
    if (parts.byMonth !== undefined && !parts.byMonth.includes(month + 1)) continue
    if (parts.byYearDay !== undefined && !includesPosition(parts.byYearDay, day, length)) continue
    const monthStart = starts[month]!
    const monthLength = starts[month + 1]! - monthStart
    if (parts.byMonthDay !== undefined && !includesPosition(parts.byMonthDay, day - monthStart, monthLength))
      continue
    if (weekNumbers !== null && !weekNumbers(day).some((number) => parts.byWeekNo!.includes(number))) continue
    if (parts.byDay !== undefined) {
      const weekday = (firstWeekday + day) % 7
      // In a yearly rule with months, the nth Monday is that of the month, otherwise that of the year.
      const matches =
        parts.byMonth === undefined
          ? includesWeekday(parts.byDay, weekday, day, length)
          : includesWeekday(parts.byDay, weekday, day - monthStart, monthLength)
      if (!matches) continue
    }
    found.push(day)
  }
  return found
}

function findDaysOfMonth(parts: DayParts, length: number, firstWeekday: number): number[] {
  const found: number[] = []
  for (let day = 0; day < length; day++) {
    if (parts.byMonthDay !== undefined && !includesPosition(parts.byMonthDay, day, length)) continue
    if (parts.byDay !== undefined && !includesWeekday(parts.byDay, (firstWeekday + day) % 7, day, length))
      continue
    found.push(day)
  }
  return found
}

/** Whether the numbers name an index (from 0) in a list of this length: 1 is the first, -1 the last. */
function includesPosition(numbers: readonly number[], index: number, length: number): boolean {
  return numbers.includes(index + 1) || numbers.includes(index - length)
}

function includesWeekday(
  days: readonly RruleWeekday[],
  weekday: number,
  index: number,
  length: number,
): boolean {
  const nth = Math.floor(index / 7) + 1
  const nthFromEnd = -Math.floor((length - 1 - index) / 7) - 1
  return days.some(
    (day) => day.weekday === weekday && (day.nth === 0 || day.nth === nth || day.nth === nthFromEnd),
  )
}

/**
 * The week number of each day of a year, counted from the start and from the end. Week 1 is the first with at least four
 * days in its year, so the first and last days of a year may belong to weeks of the neighbouring years.
 */
function numberWeeks(year: number, wkst: number): (day: number) => [number, number] {
  const start = yearStart(year)
  const weekOnes = [-1, 0, 1, 2].map((shift) => weekOne(year + shift, wkst) - start)
  return (day) => {
    const which = day < weekOnes[1]! ? 0 : day < weekOnes[2]! ? 1 : 2
    const number = Math.floor((day - weekOnes[which]!) / 7) + 1
    const weeks = (weekOnes[which + 1]! - weekOnes[which]!) / 7
    return [number, number - weeks - 1]
  }
}

/** The first day of the first week of a year. */
function weekOne(year: number, wkst: number): number {
  const start = yearStart(year)
  const into = mod(weekdayOf(start) - wkst, 7)
  return into <= 3 ? start - into : start - into + 7
}
