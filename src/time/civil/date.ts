/** Seconds in a day of the wall clock. */
export const DAY_S = 86_400

/** The first year that a rule may name; the calendar is always Gregorian. */
export const YEAR_MIN = 1600

/** The last wall-clock second of the year 9999, where searches end. */
export const WALL_S_MAX = 253_402_300_799

/** Leap days of the years 1 to 1969. */
const LEAP_DAYS_BEFORE_1970 = 477

const MONTH_STARTS = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365]
const MONTH_STARTS_LEAP = MONTH_STARTS.map((start, index) => (index < 2 ? start : start + 1))

/** The non-negative remainder. */
export function mod(value: number, divisor: number): number {
  const rest = value % divisor
  return rest < 0 ? rest + divisor : rest
}

/** The greatest common divisor of two positive integers. */
export function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b)
}

/** Whether the year has a February 29. */
export function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

/** January 1 of the year, in days since 1970-01-01. */
export function yearStart(year: number): number {
  const last = year - 1
  const leapDays = Math.floor(last / 4) - Math.floor(last / 100) + Math.floor(last / 400)
  return 365 * (year - 1970) + leapDays - LEAP_DAYS_BEFORE_1970
}

/** The year of a day. */
export function yearOf(day: number): number {
  const estimate = 1970 + Math.floor(day / 365.2425)
  if (day < yearStart(estimate)) return estimate - 1
  return day >= yearStart(estimate + 1) ? estimate + 1 : estimate
}

/** The first day of each month (0 to 11) in days since January 1, and the end of the last month. */
export function monthStarts(leap: boolean): readonly number[] {
  return leap ? MONTH_STARTS_LEAP : MONTH_STARTS
}

/** The month (0 to 11) of a day of the year (from 0). */
export function monthOf(dayOfYear: number, leap: boolean): number {
  const starts = monthStarts(leap)
  let month = Math.floor(dayOfYear / 31)
  if (dayOfYear >= starts[month + 1]!) month++
  return month
}

/** The weekday of a day; Monday is 0. */
export function weekdayOf(day: number): number {
  return mod(day + 3, 7)
}

/** The day of a date (month from 1), in days since 1970-01-01; null if there is no such date. */
export function dayOf(year: number, month: number, dayOfMonth: number): number | null {
  if (month < 1 || month > 12 || dayOfMonth < 1) return null
  const starts = monthStarts(isLeap(year))
  const dayOfYear = starts[month - 1]! + dayOfMonth - 1
  return dayOfYear < starts[month]! ? yearStart(year) + dayOfYear : null
}

/** The date of a day: year, month from 1, day of the month. */
export function dateOf(day: number): { year: number; month: number; dayOfMonth: number } {
  const year = yearOf(day)
  const dayOfYear = day - yearStart(year)
  const month = monthOf(dayOfYear, isLeap(year))
  return { year, month: month + 1, dayOfMonth: dayOfYear - monthStarts(isLeap(year))[month]! + 1 }
}
