import { type Instants, type OffsetPeriod, offsetPeriodAt } from '../zones/index.ts'
import type { DayTimes } from './day-times.ts'
import type { CronFields } from './fields.ts'

const DAY_MS = 86_400_000

/** A part of a local day with one offset: [.., end), its date, and the midnight from which its hours are counted. */
interface DaySegment {
  end: number
  midnight: number
  day: number
}

/**
 * The instants of fields whose hour is an interval, `*` or a step of it.
 *
 * Such a rule counts the time that passes since local midnight, not the hours on the clock. On most days that is
 * the same. On the day of a clock change it keeps its real spacing through the change, up to the next midnight, at
 * which it starts anew (as a step that does not divide 24 does every day): the last spacing of that day may be
 * shorter, never longer. So it needs no policy: nothing falls in a gap and nothing comes twice.
 *
 * Midnight is each moment at which the zone's date goes forward, whether the clock then shows 00:00 or a change
 * skipped that. The days named by the fields are those the clock shows.
 */
export function intervalInstants(nextDay: CronFields['nextDay'], times: DayTimes, zone: string): Instants {
  return {
    next(after) {
      for (let from = after + 1; ; ) {
        const { end, midnight, day } = segmentAt(zone, from)
        const named = nextDay(day - 1)
        if (named === null) return null
        if (named === day) {
          const at = midnight + times.from(Math.ceil((from - midnight) / 1000))! * 1000
          if (at < end) return at
          from = end
        } else {
          // Two days short of the named one, by any zone's clock; the parts on the way are not worth looking at.
          from = Math.max(end, (named - 2) * DAY_MS)
        }
      }
    },
    count(after, until) {
      let total = 0
      for (let from = after + 1; from <= until; ) {
        const { end, midnight, day } = segmentAt(zone, from)
        const named = nextDay(day - 1)
        if (named === null) break
        const to = Math.min(end, until + 1)
        if (named === day) {
          const seconds = (at: number) => times.before(Math.ceil((at - midnight) / 1000))
          total += seconds(to) - seconds(from)
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

/** The latest moment, up to this instant, at which the zone's date went forward. */
function midnightBefore(zone: string, instant: number, period: OffsetPeriod): number {
  const { start, offset, offsetBefore } = period
  const shown = dayOf(instant, period) * DAY_MS - offset
  if (shown > start) return shown
  const dateBefore = Math.floor((start - 1 + offsetBefore) / DAY_MS)
  if (dateBefore < dayOf(start, period)) return start
  // The clocks changed since midnight.
  return midnightBefore(zone, start - 1, offsetPeriodAt(zone, start - 1))
}

function dayOf(instant: number, { offset }: OffsetPeriod): number {
  return Math.floor((instant + offset) / DAY_MS)
}
