import { CronPattern } from 'croner'
import { errorText, WakefulError } from '../../error.ts'
import { cronerText } from '../../errors/index.ts'
import {
  type DaysOfYear,
  daysByKind,
  everyDay,
  flattened,
  isLeap,
  list,
  monthStarts,
  product,
  type Sequence,
  stride,
  weekdayOf,
  yearStart,
} from '../civil/index.ts'
import { quote } from '../text/index.ts'

/** Parsed calendar fields: the days they name, and the times of those days in seconds since midnight. */
export interface CronFields {
  days: DaysOfYear
  times: Sequence
  /** If the hour field is `*` or `*\/n`, an interval: the times that have passed since midnight, which go on past 24:00. */
  intervalTimes: Sequence | null
}

const OPTIONS = { mode: '5-or-6-parts' } as const
const REASON_LENGTH_MAX = 200
/** croner's bit for the last such weekday of the month; the lower bits are the first to fifth. */
const LAST_WEEK = 32
/** No local day is longer, even where the date line was crossed. */
const HOURS_MAX = 72

/** Parses 5 or 6 fields or a nickname. croner only parses the text; it computes no days and clock times. */
export function readFields(fields: string): CronFields {
  try {
    const pattern = new CronPattern(fields, undefined, OPTIONS)
    const parts = pattern.pattern.trim().split(/\s+/)
    const every = hoursEvery(parts.at(-4)!, pattern.hour)
    const inHour = flattened(product(named(pattern.minute), 60, named(pattern.second)))
    return {
      days: daysOf(pattern),
      times: flattened(product(named(pattern.hour), 3600, inHour)),
      intervalTimes: every === null ? null : product(stride(0, every, HOURS_MAX), 3600, inHour),
    }
  } catch (cause) {
    const params = { text: quote(fields), cause: cronerText(errorText(cause, REASON_LENGTH_MAX)) }
    throw new WakefulError('cron.field', params, { field: 'cron', cause })
  }
}

/** The values of a field, for which croner has an array with a truthy flag for each. */
function named(flags: readonly number[]): Sequence {
  return list(flags.flatMap((flag, value) => (flag ? [value] : [])))
}

/** The step of an hour field that is an interval. A step of 24 is only midnight, and no interval. */
function hoursEvery(field: string, hours: readonly number[]): number | null {
  if (hours.every(Boolean)) return 1
  const step = /^[*?]\/(\d+)$/.exec(field)
  return step === null || Number(step[1]) >= 24 ? null : Number(step[1])
}

/**
 * Finds the days of a year that the day fields name.
 *
 * croner parses the fields but does not find the days, because it skips some: under `1,31 * *`, croner 11.0.0 goes from
 * February 1 to March 31. It also ends in the year 3000.
 */
function daysOf(pattern: CronPattern): DaysOfYear {
  if (pattern.starDOM && pattern.starDOW && pattern.month.every(Boolean)) return everyDay
  return daysByKind((year) => findDays(pattern, year))
}

function findDays(pattern: CronPattern, year: number): number[] {
  const starts = monthStarts(isLeap(year))
  const found: number[] = []
  for (let month = 0; month < 12; month++) {
    if (!pattern.month[month]) continue
    const start = starts[month]!
    // croner's week begins on Sunday.
    const firstWeekday = (weekdayOf(yearStart(year) + start) + 1) % 7
    const isNamed = dayCheck(pattern, starts[month + 1]! - start, firstWeekday)
    for (let day = start; day < starts[month + 1]!; day++) if (isNamed(day - start + 1)) found.push(day)
  }
  return found
}

/** A check whether the day fields name a day of a month that has this length and first weekday. */
function dayCheck(pattern: CronPattern, daysInMonth: number, firstWeekday: number): (day: number) => boolean {
  const { starDOM, starDOW, useAndLogic, dayOfWeek, lastDayOfMonth, lastWeekday } = pattern
  const nearestTo = pattern.nearestWeekdays.flatMap((flag, index) => (flag ? [index + 1] : []))
  if (lastWeekday) nearestTo.push(daysInMonth)
  const nearest = nearestTo.map((day) => nearestWeekday(day, daysInMonth, firstWeekday))
  return (day) => {
    const byDate =
      Boolean(pattern.day[day - 1]) || (lastDayOfMonth && day === daysInMonth) || nearest.includes(day)
    if (starDOW) return byDate
    const weeks = dayOfWeek[(firstWeekday + day - 1) % 7]!
    const isLast = (weeks & LAST_WEEK) !== 0 && day + 7 > daysInMonth
    const byWeekday = isLast || (weeks & (1 << Math.floor((day - 1) / 7))) !== 0
    // If both fields are set, either may match, as in Vixie cron; croner's '+' requires both.
    return starDOM || useAndLogic ? byDate && byWeekday : byDate || byWeekday
  }
}

/** The weekday (Monday to Friday) nearest to a day of the same month; null if the month has no such day. */
function nearestWeekday(day: number, daysInMonth: number, firstWeekday: number): number | null {
  if (day > daysInMonth) return null
  const weekday = (firstWeekday + day - 1) % 7
  if (weekday === 0) return day === daysInMonth ? day - 2 : day + 1
  if (weekday === 6) return day === 1 ? day + 2 : day - 1
  return day
}
