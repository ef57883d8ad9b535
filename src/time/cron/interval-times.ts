import { type DaysOfYear, dayFinder, type Sequence } from '../civil/index.ts'
import { DAY_MS } from '../durations/index.ts'
import { type Instants, type OffsetPeriod, offsetPeriodAt } from '../zones/index.ts'

/** The part of a local day with one offset, up to `end`: its date, and the midnight from which its hours count. */
interface DaySegment {
  end: number
  midnight: number
  day: number
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
export function intervalInstants(days: DaysOfYear, times: Sequence, zone: string): Instants {
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
