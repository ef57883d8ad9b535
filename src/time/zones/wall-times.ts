import { DAY_MS } from '../durations/index.ts'
import { type OffsetPeriod, offsetPeriodAt } from './wall-time.ts'

/**
 * What a clock change does to a wall time. One that does not exist (`gap`) shifts forward by the length of the gap or is
 * skipped. One that occurs twice (`overlap`) counts the first time, the last time, or both.
 */
export interface DstPolicy {
  gap: 'shift' | 'skip'
  overlap: 'first' | 'last' | 'both'
}

/** The policy of rules without one: the same as Temporal's `compatible`. */
export const DST_DEFAULT: DstPolicy = { gap: 'shift', overlap: 'first' }

/** Finds the first instant of a rule strictly after another; null if there is none. */
export type NextInstant = (after: number) => number | null

/**
 * Finds the first wall time of a rule strictly after another; null if there is none. Wall times are the epoch
 * milliseconds they would be in UTC: zones and clock changes play no part.
 */
export type NextWallTime = (wall: number) => number | null

/** The wall times of a rule. `count` is how many are in [from, to), present if that needs no enumeration. */
export interface WallTimes {
  next: NextWallTime
  count?: CountBetween | undefined
}

/** Counts instants or wall times between two others. */
export type CountBetween = (low: number, high: number) => number

/** The instants of a rule. `count` is how many are in (after, until], present if that needs no enumeration. */
export interface Instants {
  next: NextInstant
  count?: CountBetween | undefined
  /** For rules on the wall clock: the wall times as written, before clock changes. */
  nextWallTime?: NextWallTime
  /** The rule keeps its real spacing through clock changes, whatever its wall times. */
  interval?: true
}

/** The instants `first`, `first + every` and so on, up to `last`, in any unit: clock changes do not affect them. */
export function fixedInterval(
  first: number,
  every: number,
  last = Number.POSITIVE_INFINITY,
): { next: NextInstant; count: CountBetween } {
  const countUntil = (at: number) => (at < first ? 0 : Math.floor((Math.min(at, last) - first) / every) + 1)
  return {
    next(after) {
      const found = first + countUntil(after) * every
      return found > last ? null : found
    },
    count: (after, until) => countUntil(until) - countUntil(after),
  }
}

/** Wall times from a search that works in seconds: `firstFrom` finds the first at or after one, `count` counts [from, to). */
export function wallTimesOf(firstFrom: (second: number) => number | null, count?: CountBetween): WallTimes {
  return {
    next(wall) {
      const found = firstFrom(Math.floor(wall / 1000) + 1)
      return found === null ? null : found * 1000
    },
    count: count && ((low, high) => count(Math.ceil(low / 1000), Math.ceil(high / 1000))),
  }
}

/** The instants of wall times in a zone, under a policy for clock changes. */
export function instantsOfWallTimes(wallTimes: WallTimes, zone: string, policy: DstPolicy): Instants {
  const next: NextInstant = (after) => nextDue(wallTimes.next, zone, policy, after)
  const { count, next: nextWallTime } = wallTimes
  return {
    next,
    nextWallTime,
    count: count && ((after, until) => countDue(next, count, zone, policy, after, until)),
  }
}

/**
 * The first instant strictly after another at which a wall time of the rule is due in the zone. Clock changes are
 * applied here and nowhere else, whatever library finds the wall times.
 *
 * A wall time in a gap shifts by the gap's length and may then coincide with another: both fire once. This relies on
 * every period of one offset being longer than the changes at its ends; since 1970 the shortest is a week.
 */
function nextDue(nextWallTime: NextWallTime, zone: string, policy: DstPolicy, after: number): number | null {
  let from = after
  for (;;) {
    const period = offsetPeriodAt(zone, from + 1)
    const { end, offset } = period
    const wall = nextWallTime(Math.max(from + offset, repeatedUntil(period, policy) - 1))
    const regular = wall === null || wall >= repeatedFrom(period, zone, policy, wall) ? null : wall - offset
    const shifted = policy.gap === 'shift' ? nextInGap(nextWallTime, period, from) : null
    const earliest = regular === null || (shifted !== null && shifted < regular) ? shifted : regular
    if (earliest !== null && earliest < end) return earliest
    // If the next wall time is far off, or there is none, skip the clock changes on the way.
    const resumeAt = wall === null ? Number.POSITIVE_INFINITY : wall - offset - 2 * DAY_MS
    const isFar = end - from > 2 * DAY_MS && resumeAt > end
    if (end === Number.POSITIVE_INFINITY || (isFar && wall === null)) return null
    from = isFar ? resumeAt : end - 1
  }
}

/** Under overlap 'first': wall times before this one are repeated, and already occurred before the clock went back. */
function repeatedUntil({ start, offset, offsetBefore }: OffsetPeriod, policy: DstPolicy): number {
  return policy.overlap === 'first' && offset < offsetBefore ? start + offsetBefore : Number.NEGATIVE_INFINITY
}

/** Under overlap 'last': wall times from this one on occur again after the clock goes back. */
function repeatedFrom({ end, offset }: OffsetPeriod, zone: string, policy: DstPolicy, wall: number): number {
  if (policy.overlap !== 'last' || wall - offset < end - DAY_MS || !Number.isFinite(end)) {
    return Number.POSITIVE_INFINITY
  }
  return end + Math.min(offset, offsetPeriodAt(zone, end).offset)
}

/** The next wall time in the gap at the start of the period, shifted by the length of the gap. */
function nextInGap(nextWallTime: NextWallTime, period: OffsetPeriod, from: number): number | null {
  const shiftedEnd = shiftedUntil(period)
  if (from >= shiftedEnd - 1) return null
  const gapStart = period.start + period.offsetBefore
  const wall = nextWallTime(Math.max(gapStart - 1, from + period.offsetBefore))
  const shifted = wall === null ? null : wall - period.offsetBefore
  return shifted !== null && shifted < shiftedEnd ? shifted : null
}

/** Where instants shifted out of the gap end: after the change forward, for as long as the gap. */
function shiftedUntil({ start, offset, offsetBefore }: OffsetPeriod): number {
  return offset > offsetBefore ? start + offset - offsetBefore : Number.NEGATIVE_INFINITY
}

/**
 * Counts per period of one offset, skipping periods in which nothing is due: for a rare rule that is most of them.
 * Only instants shifted out of a gap are enumerated, because they may coincide.
 */
function countDue(
  next: NextInstant,
  countWallTimes: CountBetween,
  zone: string,
  policy: DstPolicy,
  after: number,
  until: number,
): number {
  let total = 0
  for (let first = next(after); first !== null && first <= until; ) {
    const low = first
    const period = offsetPeriodAt(zone, low)
    const { end, offset } = period
    const high = Math.min(until + 1, end)
    const shiftedEnd =
      policy.gap === 'shift' ? Math.min(shiftedUntil(period), high) : Number.NEGATIVE_INFINITY
    for (let at: number | null = low; at !== null && at < shiftedEnd; at = next(at)) total++
    const from = Math.max(low, shiftedEnd) + offset
    const to = Math.min(high + offset, repeatedFrom(period, zone, policy, high + offset))
    total += Math.max(0, countWallTimes(Math.max(from, repeatedUntil(period, policy)), to))
    first = next(high - 1)
  }
  return total
}
