import type { CronPattern } from 'croner'
import { recordSearchWork } from '../clock/index.ts'
import { DAY_MS } from '../durations/index.ts'

/** The calendar repeats after 400 years, so a day that is not in as many days never comes. */
const DAYS_SCANNED = 146_097
/** 9999-12-31, in days since 1970. */
const DAY_LAST = 2_932_896
const DAYS_CACHED_MAX = 400
/** A search visits a month at a time. */
const DAYS_PER_VISIT = 30
/** croner's bit for the last such weekday of the month; the lower bits are the first to fifth. */
const LAST_WEEK = 32

/**
 * Finds the first day after another that the day fields name, in days since 1970; null if there is none.
 *
 * croner parses the fields but does not find the days, because it skips some: under `1,31 * *`, croner 11.0.0 goes from
 * February 1 to March 31. It also ends in the year 3000.
 */
export function dayFinder(pattern: CronPattern): (day: number) => number | null {
  const found = new Map<number, number | null>()
  return (day) => {
    let next = found.get(day)
    if (next === undefined) {
      if (found.size >= DAYS_CACHED_MAX) found.clear()
      next = findDay(pattern, day)
      found.set(day, next)
    }
    // Recorded for cached days too: the work of a search must not depend on earlier calls.
    recordSearchWork(((next ?? day + DAYS_SCANNED) - day) / DAYS_PER_VISIT)
    return next
  }
}

function findDay(pattern: CronPattern, after: number): number | null {
  const last = Math.min(after + DAYS_SCANNED, DAY_LAST)
  for (let day = after + 1; day <= last; ) {
    const date = new Date(day * DAY_MS)
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
    const daysInMonth = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
    const first = day - date.getUTCDate() + 1
    if (pattern.month[month]) {
      for (let inMonth = date.getUTCDate(); inMonth <= daysInMonth; inMonth++) {
        if (isNamed(pattern, inMonth, daysInMonth, weekdayOf(first))) return first + inMonth - 1
      }
    }
    day = first + daysInMonth
  }
  return null
}

/** Whether the day fields name this day of a month that has this length and first weekday. */
function isNamed(pattern: CronPattern, day: number, daysInMonth: number, firstWeekday: number): boolean {
  const { starDOM, starDOW, useAndLogic, dayOfWeek, lastDayOfMonth, lastWeekday, nearestWeekdays } = pattern
  const byDate =
    Boolean(pattern.day[day - 1]) ||
    (lastDayOfMonth && day === daysInMonth) ||
    (lastWeekday && day === nearestWeekday(daysInMonth, daysInMonth, firstWeekday)) ||
    nearestWeekdays.some(
      (flag, index) => flag && nearestWeekday(index + 1, daysInMonth, firstWeekday) === day,
    )
  if (starDOW) return byDate
  const weeks = dayOfWeek[(firstWeekday + day - 1) % 7]!
  const isLast = (weeks & LAST_WEEK) !== 0 && day + 7 > daysInMonth
  const byWeekday = isLast || (weeks & (1 << Math.floor((day - 1) / 7))) !== 0
  // If both fields are set, either may match, as in Vixie cron; croner's '+' requires both.
  return starDOM || useAndLogic ? byDate && byWeekday : byDate || byWeekday
}

/** The weekday (Monday to Friday) nearest to a day of the same month; null if the month has no such day. */
function nearestWeekday(day: number, daysInMonth: number, firstWeekday: number): number | null {
  if (day > daysInMonth) return null
  const weekday = (firstWeekday + day - 1) % 7
  if (weekday === 0) return day === daysInMonth ? day - 2 : day + 1
  if (weekday === 6) return day === 1 ? day + 2 : day - 1
  return day
}

/** 0 is Sunday; 1970-01-01 was a Thursday. */
function weekdayOf(day: number): number {
  return (((day + 4) % 7) + 7) % 7
}
