import { CronPattern } from 'croner'
import { errorText, WakefulError } from '../../error.ts'
import { cronerText } from '../../errors/index.ts'
import { quote } from '../text/index.ts'
import { type DayTimes, dayTimes } from './day-times.ts'
import { dayFinder } from './days.ts'

/** Parsed calendar fields: the days they name, and the times of those days. */
export interface CronFields {
  /** The first named day after this one, in days since 1970; null if there is none. */
  nextDay: (day: number) => number | null
  /** Every day is named. */
  everyDay: boolean
  times: DayTimes
  /** If the hour field is `*` or `*\/n`, an interval: the times that have passed since midnight. */
  intervalTimes: DayTimes | null
}

const OPTIONS = { mode: '5-or-6-parts' } as const
const REASON_LENGTH_MAX = 200

/** Parses 5 or 6 fields or a nickname. croner only parses the text; it computes no days and clock times. */
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
    throw new WakefulError(
      'cron.field',
      { text: quote(fields), detail: cronerText(errorText(cause, REASON_LENGTH_MAX)) },
      { cause },
    )
  }
}

/** The step of an hour field that is an interval. A step of 24 is only midnight, and no interval. */
function hoursEvery(field: string, hours: readonly number[]): number | null {
  if (hours.every(Boolean)) return 1
  const step = /^[*?]\/(\d+)$/.exec(field)
  return step === null || Number(step[1]) >= 24 ? null : Number(step[1])
}
