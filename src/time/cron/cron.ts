import { WakefulError } from '../../error.ts'
import { DAY_MS, parseInterval } from '../durations/index.ts'
import { quote, TEXT_LENGTH_MAX } from '../text/index.ts'
import {
  assertTimezone,
  DST_DEFAULT,
  type DstPolicy,
  type Instants,
  instantsOfWallTimes,
  type WallTimes,
} from '../zones/index.ts'
import { type CronFields, readFields } from './fields.ts'
import { intervalInstants } from './interval-times.ts'

/** A parsed cron expression: its zone if it has one, and either an interval or calendar fields. */
export interface CronText {
  timezone?: string
  everyMs?: number
  fields: string
}

const NICKNAMES = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']
const DAY_SECONDS = 86_400

/** Parses a cron expression: `@every 5m`, a nickname, or 5 or 6 fields, with an optional `CRON_TZ=Zone` in front. */
export function parseCron(text: string): CronText {
  if (typeof text !== 'string' || text.length > TEXT_LENGTH_MAX) {
    throw new WakefulError(
      'field.malformed',
      { expected: "a short string such as '0 9 * * 1-5'" },
      { field: 'cron', code: 'invalid_rule' },
    )
  }
  const words = text.trim().split(/\s+/)
  const prefix = /^(?:CRON_)?TZ=(.+)$/.exec(words[0] ?? '')
  const zone = prefix === null ? {} : { timezone: assertTimezone(prefix[1]!) }
  if (prefix !== null) words.shift()
  const fields = words.join(' ')
  if (words[0]?.toLowerCase() === '@every') {
    return { ...zone, fields, everyMs: parseInterval(words.slice(1).join(' ')) }
  }
  const nickname = words.length === 1 && NICKNAMES.includes(fields.toLowerCase())
  if (!nickname && words.length !== 5 && words.length !== 6) {
    throw new WakefulError('cron.field_count', { text: quote(text), nicknames: NICKNAMES })
  }
  return { ...zone, fields }
}

/**
 * Compiles calendar fields in a zone. An hour field of `*` or `*\/n` makes an interval, which keeps its real spacing
 * through clock changes. All others are times on the wall clock, to which the policy applies.
 */
export function compileCron(fields: string, zone: string, policy: DstPolicy = DST_DEFAULT): Instants {
  const read = readFields(fields)
  const wallTimes = wallTimesOf(read)
  if (read.intervalTimes === null) return instantsOfWallTimes(wallTimes, zone, policy)
  return {
    ...intervalInstants(read.nextDay, read.intervalTimes, zone),
    nextWallTime: wallTimes.next,
    interval: true,
  }
}

function wallTimesOf({ nextDay, everyDay, times }: CronFields): WallTimes {
  const perDay = times.before(DAY_SECONDS)
  const named = (day: number) => nextDay(day - 1) === day
  const countNamed = (from: number, to: number) => {
    if (everyDay) return to - from
    let count = 0
    for (let day = nextDay(from - 1); day !== null && day < to; day = nextDay(day)) count++
    return count
  }
  // How many wall times of the day are before this second.
  const countOnDay = (day: number, second: number) =>
    named(day) ? times.before(second - day * DAY_SECONDS) : 0
  return {
    next(wall) {
      const day = Math.floor(wall / DAY_MS)
      const second = Math.floor((wall - day * DAY_MS) / 1000) + 1
      const today = second < DAY_SECONDS && named(day) ? times.from(second) : null
      if (today !== null) return day * DAY_MS + today * 1000
      const later = nextDay(day)
      return later === null ? null : later * DAY_MS + times.from(0)! * 1000
    },
    count(from, to) {
      const [low, high] = [Math.ceil(from / 1000), Math.ceil(to / 1000)]
      if (high <= low) return 0
      const [first, last] = [Math.floor(low / DAY_SECONDS), Math.floor(high / DAY_SECONDS)]
      return countNamed(first, last) * perDay - countOnDay(first, low) + countOnDay(last, high)
    },
  }
}
