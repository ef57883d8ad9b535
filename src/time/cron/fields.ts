import { CronPattern } from 'croner'
import { errorText, WakefulError } from '../../error.ts'
import { cronerText } from '../../errors/index.ts'
import { list, product, type Sequence, stride } from '../rrule/index.ts'
import { quote } from '../text/index.ts'
import { dayFinder } from './days.ts'

/** Parsed calendar fields: the days they name, and the times of those days. */
export interface CronFields {
  /** The first named day after this one, in days since 1970; null if there is none. */
  nextDay: (day: number) => number | null
  /** Every day is named. */
  everyDay: boolean
  /** In seconds since midnight. */
  times: Sequence
  /** If the hour field is `*` or `*\/n`, an interval: seconds that have passed since midnight, also beyond a day. */
  intervalTimes: Sequence | null
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
    const minutes = product(named(pattern.minute), 60, named(pattern.second))
    return {
      nextDay: everyDay ? (day) => day + 1 : dayFinder(pattern),
      everyDay,
      times: product(named(pattern.hour), 3600, minutes),
      intervalTimes:
        every === null ? null : product(stride(0, every, Number.POSITIVE_INFINITY), 3600, minutes),
    }
  } catch (cause) {
    throw new WakefulError(
      'cron.field',
      { text: quote(fields), detail: cronerText(errorText(cause, REASON_LENGTH_MAX)) },
      { cause },
    )
  }
}

/** The values that a field names. croner parses a field to a flag for each possible value. */
function named(flags: readonly number[]): Sequence {
  return list(flags.flatMap((flag, value) => (flag ? value : [])))
}

/** The step of an hour field that is an interval. A step of 24 is only midnight, and no interval. */
function hoursEvery(field: string, hours: readonly number[]): number | null {
  if (hours.every(Boolean)) return 1
  const step = /^[*?]\/(\d+)$/.exec(field)
  return step === null || Number(step[1]) >= 24 ? null : Number(step[1])
}
