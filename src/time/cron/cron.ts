import { WakefulError } from '../../error.ts'
import { countIn, nthFrom, yearBlocks } from '../civil/index.ts'
import { parseInterval } from '../durations/index.ts'
import { quote, TEXT_LENGTH_MAX } from '../text/index.ts'
import {
  DST_DEFAULT,
  type DstPolicy,
  type Instants,
  instantsOfWallTimes,
  knownTimezone,
  wallTimesOf,
} from '../zones/index.ts'
import { readFields } from './fields.ts'
import { intervalInstants } from './interval-times.ts'

/** A parsed cron expression: its zone if it has one, and either an interval or calendar fields. */
export interface CronText {
  timezone?: string
  everyMs?: number
  fields: string
}

const NICKNAMES: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
])

/** Parses a cron expression: `@every 5m`, a nickname, or 5 or 6 fields, with an optional `CRON_TZ=Zone` in front. */
export function parseCron(text: string): CronText {
  if (typeof text !== 'string' || text.length > TEXT_LENGTH_MAX) {
    const expected = "a short string such as '0 9 * * 1-5'"
    throw new WakefulError('field.malformed', { expected }, { code: 'invalid_rule' })
  }
  const words = text.trim().split(/\s+/)
  const prefix = /^(?:CRON_)?TZ=(.+)$/.exec(words[0] ?? '')
  const zone = prefix === null ? {} : { timezone: knownTimezone(prefix[1]!) }
  if (prefix !== null) words.shift()
  const fields = words.join(' ')
  if (words[0]?.toLowerCase() === '@every') {
    return { ...zone, fields, everyMs: parseInterval(words.slice(1).join(' ')) }
  }
  const named = NICKNAMES.get(fields.toLowerCase())
  if (named === undefined && words.length !== 5 && words.length !== 6) {
    throw new WakefulError('cron.field_count', { text: quote(text), nicknames: [...NICKNAMES.keys()] })
  }
  return { ...zone, fields: named ?? fields }
}

/**
 * Compiles calendar fields in a zone. An hour field of `*` or `*\/n` makes an interval, which keeps its real spacing
 * through clock changes. All others are times on the wall clock, to which the policy applies.
 */
export function compileCron(fields: string, zone: string, policy: DstPolicy = DST_DEFAULT): Instants {
  const { days, times, intervalTimes } = readFields(fields)
  const blocks = yearBlocks(days, times, Number.NEGATIVE_INFINITY)
  const wallTimes = wallTimesOf(
    (second) => nthFrom(blocks, second),
    (from, to) => countIn(blocks, from, to),
  )
  if (intervalTimes === null) return instantsOfWallTimes(wallTimes, zone, policy)
  return { ...intervalInstants(days, intervalTimes, zone), nextWallTime: wallTimes.next, interval: true }
}
