import { CronPattern } from 'croner'
import { WakefulError } from '../../error.ts'
import { quote } from '../text/index.ts'
import { type DayTimes, dayTimes } from './day-times.ts'
import { dayFinder } from './days.ts'

/** Calendar fields taken apart: the days they name, and the times of those days. */
export interface CronFields {
  /** The first day after this one that is named, in days since 1970; null when there is none. */
  nextDay: (day: number) => number | null
  /** Every day is named. */
  everyDay: boolean
  times: DayTimes
  /** Where the hour field is `*` or a step of it, an interval: the times that may pass since midnight. */
  intervalTimes: DayTimes | null
}

const OPTIONS = { mode: '5-or-6-parts' } as const
const REASON_LENGTH_MAX = 200

/** Reads 5 or 6 fields or a nickname. croner takes the text apart; it is never asked about days and clocks. */
export function readFields(fields: string): CronFields {
  try {
    const pattern = new CronPattern(fields, undefined, OPTIONS)
    const parts = pattern.pattern.trim().split(/\s+/)
    const every = hoursEvery(parts.at(-4)!, pattern.hour)
    const everyDay = pattern.starDOM && pattern.starDOW && pattern.month.every(Boolean)
    return {
      nextDay: everyDay ? (day) => day + 1 : dayFinder(pattern),
      everyDay,
      times: dayTimes(pattern.hour, pattern.minute, pattern.second),
      intervalTimes: every === null ? null : dayTimes(every, pattern.minute, pattern.second),
    }
  } catch (cause) {
    throw new WakefulError('invalid_rule', `${quote(fields)} is not a cron expression: ${reason(cause)}`, {
      cause,
    })
  }
}

/** What croner says, bounded, without its name and the NaN or Infinity it shows for what it cannot count with. */
function reason(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause)
  const why = message.replace(/^CronPattern: /, '').replace(/:? \(?(?:NaN|Infinity)\)?$/, '')
  return why.length > REASON_LENGTH_MAX ? `${why.slice(0, REASON_LENGTH_MAX - 1)}…` : why
}

/** The step of an hour field that is an interval. A step of 24 names one hour, midnight, and is none. */
function hoursEvery(field: string, hours: readonly number[]): number | null {
  if (hours.every(Boolean)) return 1
  const step = /^[*?]\/(\d+)$/.exec(field)
  return step === null || Number(step[1]) >= 24 ? null : Number(step[1])
}
