import { WakefulError } from '../../error.ts'
import { countIn, type DaysOfYear, dayFinder, nthFrom, type Sequence, yearBlocks } from '../civil/index.ts'
import { DAY_MS, parseInterval } from '../durations/index.ts'
import { quote, TEXT_LENGTH_MAX } from '../text/index.ts'
import {
  DST_DEFAULT,
  type DstPolicy,
  type Instants,
  instantsOfWallTimes,
  knownTimezone,
  type OffsetPeriod,
  offsetPeriodAt,
  wallTimesOf,
} from '../zones/index.ts'
import { readFields } from './fields.ts'

/** A parsed cron expression: its zone if it has one, and either an interval or calendar fields. */
export interface CronText {
  timezone?: string
  everyMs?: number
  fields: string
}

/** The part of a local day with one offset, up to `end`: its date, and the midnight from which its hours count. */
interface DaySegment {
  end: number
  midnight: number
  day: number
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
 * Whether both day fields are set, so that a day matches either; null if not. Vixie cron requires both if one begins with
 * `*`: there `0 9 *\/2 * 1` fires on Mondays with an odd date. The parser of Chronos, a predecessor, accepts either, and so
 * does Wakeful.
 */
export function eitherDay(fields: string): { readonly differsFromVixie: boolean } | null {
  const [day = '*', , weekday = '*'] = fields.split(' ').slice(-3)
  if (/^[*?]$/.test(day) || /^[*?]$/.test(weekday) || weekday.startsWith('+')) return null
  return { differsFromVixie: day.startsWith('*') || weekday.startsWith('*') }
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

/**
 * The instants of fields whose hour is an interval: `*` or `*\/n`.
 *
 * Such a rule counts the time that passes since local midnight, not the hours on the clock. On most days both are the
 * same. On the day of a clock change the rule keeps its real spacing until the next midnight, where it starts over (as a
 * step that does not divide 24 does every day). The last spacing of that day may be shorter, never longer. No policy is
 * needed, because nothing is in a gap and nothing occurs twice.
 *
 * Midnight is the instant at which the local date advances, even if a clock change skips 00:00. The named days are local
 * dates.
 */
function intervalInstants(days: DaysOfYear, times: Sequence, zone: string): Instants {
  const dayFrom = dayFinder(days)
  const indexAt = (at: number, midnight: number) => times.indexFrom(Math.ceil((at - midnight) / 1000))
  return {
    next(after) {
      for (let from = after + 1; ; ) {
        const { end, midnight, day } = segmentAt(zone, from)
        const named = dayFrom(day)
        if (named === Number.POSITIVE_INFINITY) return null
        if (named === day) {
          const at = midnight + times.at(indexAt(from, midnight)) * 1000
          if (at < end) return at
          from = end
        } else {
          // In no zone does the named day start more than two days early: skip the segments before that.
          from = Math.max(end, (named - 2) * DAY_MS)
        }
      }
    },
    count(after, until) {
      let total = 0
      for (let from = after + 1; from <= until; ) {
        const { end, midnight, day } = segmentAt(zone, from)
        const named = dayFrom(day)
        const to = Math.min(end, until + 1)
        if (named === day) {
          total += indexAt(to, midnight) - indexAt(from, midnight)
          from = to
        } else from = Math.max(to, (named - 2) * DAY_MS)
      }
      return total
    },
  }
}

function segmentAt(zone: string, instant: number): DaySegment {
  const period = offsetPeriodAt(zone, instant)
  const day = dayOf(instant, period)
  const end = Math.min((day + 1) * DAY_MS - period.offset, period.end)
  return { end, midnight: midnightBefore(zone, instant, period), day }
}

/** The latest instant, up to this one, at which the local date advanced. */
function midnightBefore(zone: string, instant: number, period: OffsetPeriod): number {
  const { start, offset, offsetBefore } = period
  const nominal = dayOf(instant, period) * DAY_MS - offset
  if (nominal > start) return nominal
  const dateBefore = Math.floor((start - 1 + offsetBefore) / DAY_MS)
  if (dateBefore < dayOf(start, period)) return start
  // The clock changed since midnight.
  return midnightBefore(zone, start - 1, offsetPeriodAt(zone, start - 1))
}

function dayOf(instant: number, { offset }: OffsetPeriod): number {
  return Math.floor((instant + offset) / DAY_MS)
}
