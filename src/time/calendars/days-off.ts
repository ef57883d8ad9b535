import { weekdayOf } from '../rrule/index.ts'

/** The days off of a rule, compiled. Days are counted from 1970-01-01, on the calendar of the rule's zone. */
export interface DaysOff {
  isOff(day: number): boolean
  /** Whether there is a weekday that is not off every week. */
  readonly hasWorkingWeekday: boolean
  /** The first working day from this day on; null where there is none within ten years. */
  nextWorkingDay(day: number): number | null
  /** The last working day up to this day; null where there is none within ten years. */
  previousWorkingDay(day: number): number | null
  /** Why the day is off, in words: "Christmas Day (us-holidays)", "Saturday"; undefined where it is not. */
  reason(day: number): string | undefined
}

/** Days off that somebody named one by one: the day, and what it is called. */
export interface NamedDays {
  readonly name: string
  readonly labels: ReadonlyMap<number, string>
}

/** More days than this make no calendar: two hundred years of a hundred holidays. */
export const CALENDAR_DAYS_MAX = 20_000

/** So far working days are looked for. */
export const SEARCH_DAYS_MAX = 3653

const NAMES = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ')

/** Compiles days off: weekdays that are off every week (1 is Monday), and named days. */
export function compileDaysOff(weekend: Iterable<number>, named: readonly NamedDays[]): DaysOff {
  const offWeekly = Array.from({ length: 7 }, () => false)
  for (const weekday of weekend) offWeekly[weekday - 1] = true
  const isOff = (day: number) => offWeekly[weekdayOf(day)]! || named.some(({ labels }) => labels.has(day))
  const hasWorkingWeekday = offWeekly.includes(false)
  const search = (day: number, step: 1 | -1) => {
    if (!hasWorkingWeekday) return null
    for (let gone = 0; gone <= SEARCH_DAYS_MAX; gone++) {
      if (!isOff(day + gone * step)) return day + gone * step
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
      if (calendar === undefined) return offWeekly[weekdayOf(day)] ? NAMES[weekdayOf(day)] : undefined
      const label = calendar.labels.get(day)!
      return label === '' ? `a day of ${calendar.name}` : `${label} (${calendar.name})`
    },
  }
}
