import { weekdayOf } from '../rrule/index.ts'
import { WEEKDAY_NAMES } from '../text/index.ts'
import type { Exclusion } from './exclusion.ts'

/** The compiled days off of a rule. Days are local dates, in days since 1970-01-01. */
export interface DaysOff {
  isOff(day: number): boolean
  /** False if all seven weekdays are off. */
  readonly hasWorkingWeekday: boolean
  /** The first working day at or after this day; null if there is none within ten years. */
  nextWorkingDay(day: number): number | null
  /** The last working day at or before this day; null if there is none within ten years. */
  previousWorkingDay(day: number): number | null
  /** Why the day is off: "Christmas Day (us-holidays)", "Saturday"; undefined for a working day. */
  reason(day: number): string | undefined
}

/** The dates of a calendar: its name, and the label of each day. */
export interface NamedDays {
  readonly name: string
  readonly labels: ReadonlyMap<number, string>
}

/** The most days in a calendar: two hundred years of a hundred holidays. */
export const CALENDAR_DAYS_MAX = 20_000

/** How far working days are searched: ten years. */
export const SEARCH_DAYS_MAX = 3653

/** Compiles days off: weekdays that are off every week (Monday is 1), and the dates of calendars. */
export function compileDaysOff(weekend: Iterable<number>, named: readonly NamedDays[]): DaysOff {
  const offWeekly = Array.from({ length: 7 }, () => false)
  for (const weekday of weekend) offWeekly[weekday - 1] = true
  const isOff = (day: number) => offWeekly[weekdayOf(day)]! || named.some(({ labels }) => labels.has(day))
  const hasWorkingWeekday = offWeekly.includes(false)
  const search = (day: number, step: 1 | -1) => {
    if (!hasWorkingWeekday) return null
    for (let days = 0; days <= SEARCH_DAYS_MAX; days++) {
      if (!isOff(day + days * step)) return day + days * step
    }
    return null
  }
  return {
    isOff,
    hasWorkingWeekday,
    nextWorkingDay: (day) => search(day, 1),
    previousWorkingDay: (day) => search(day, -1),
    reason(day) {
      const calendar = named.find(({ labels }) => labels.has(day))
      if (calendar === undefined) return offWeekly[weekdayOf(day)] ? WEEKDAY_NAMES[weekdayOf(day)] : undefined
      const label = calendar.labels.get(day)!
      return label === '' ? `a day of ${calendar.name}` : `${label} (${calendar.name})`
    },
  }
}

/** The working day to which a day moves: the next or previous one, then `offset` working days further. Null if there is none. */
export function movedDay({ move, offset = 0 }: Exclusion, off: DaysOff, from: number): number | null {
  let day = move === 'next' ? off.nextWorkingDay(from) : off.previousWorkingDay(from)
  for (let left = Math.abs(offset); day !== null && left > 0; left--) {
    day = offset > 0 ? off.nextWorkingDay(day + 1) : off.previousWorkingDay(day - 1)
  }
  return day
}
