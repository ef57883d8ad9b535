import type { DstPolicy } from './dst.ts'
import { type OffsetPeriod, offsetPeriodAt } from './wall-time.ts'

/** Finds the instant of a rule that comes next after another; null when there is none. */
export type NextInstant = (after: number) => number | null

/**
 * Finds the wall time of a rule that comes strictly after another; null when there is none. A wall time is written
 * as the epoch milliseconds it would be in UTC. It knows nothing of zones and clock changes.
 */
export type NextWallTime = (wall: number) => number | null

/** The wall times of a rule, and, where that takes no going through them, how many lie in [from, to). */
export interface WallTimes {
  next: NextWallTime
  count?(from: number, to: number): number
}

/** The instants of a rule, and, where that takes no going through them, how many lie in (after, until]. */
export interface Instants {
  next: NextInstant
  count?(after: number, until: number): number
  /** The wall times as written, of rules on the wall clock: notes tell what a clock change made of them. */
  nextWallTime?: NextWallTime
  /** The rule keeps its real spacing through clock changes, whatever its wall times say. */
  interval?: true
}

const DAY_MS = 86_400_000

/** Places wall times on the clock of a zone. */
export function instantsOfWallTimes(wallTimes: WallTimes, zone: string, policy: DstPolicy): Instants {
  const next: NextInstant = (after) => nextDue(wallTimes.next, zone, policy, after)
  const { count, next: nextWallTime } = wallTimes
  if (count === undefined) return { next, nextWallTime }
  return {
    next,
    nextWallTime,
    count: (after, until) => countDue(next, count, zone, policy, after, until),
  }
}

/**
 * The first instant strictly after the given one at which a wall time of the rule is due in the zone. This is the
 * only place where clock changes meet wall times: whatever library finds the wall times, the policy is applied here.
 *
 * A wall time in a gap shifts by the gap's length, and may then fall together with another: they fire once. It
 * relies on every stretch of one offset being longer than the changes at its ends: since 1970 the shortest is a week.
 */
function nextDue(nextWallTime: NextWallTime, zone: string, policy: DstPolicy, after: number): number | null {
  let from = after
  for (;;) {
    const period = offsetPeriodAt(zone, from + 1)
    const { end, offset } = period
    const wall = nextWallTime(Math.max(from + offset, shownUntil(period, policy) - 1))
    const regular = wall === null || wall >= shownFrom(period, zone, policy, wall) ? null : wall - offset
    const shifted = policy.gap === 'shift' ? nextInGap(nextWallTime, period, from) : null
    const earliest = regular === null || (shifted !== null && shifted < regular) ? shifted : regular
    if (earliest !== null && earliest < end) return earliest
    // Where the next wall time is far off, or none is left, the changes on the way cannot matter.
    const near = wall === null ? Number.POSITIVE_INFINITY : wall - offset - 2 * DAY_MS
    const far = end - from > 2 * DAY_MS && near > end
    if (end === Number.POSITIVE_INFINITY || (far && wall === null)) return null
    from = far ? near : end - 1
  }
}

/** Wall times before this one were shown before the clocks went back, and the policy takes the first of two. */
function shownUntil({ start, offset, offsetBefore }: OffsetPeriod, policy: DstPolicy): number {
  return policy.overlap === 'first' && offset < offsetBefore ? start + offsetBefore : Number.NEGATIVE_INFINITY
}

/** Wall times from this one on are shown again when the clocks have gone back, and the policy takes the last of two. */
function shownFrom({ end, offset }: OffsetPeriod, zone: string, policy: DstPolicy, wall: number): number {
  if (policy.overlap !== 'last' || wall - offset < end - DAY_MS || !Number.isFinite(end)) {
    return Number.POSITIVE_INFINITY
  }
  return end + Math.min(offset, offsetPeriodAt(zone, end).offset)
}

/** The wall times a clock skipped when it went forward, moved by the length of the gap. */
function nextInGap(nextWallTime: NextWallTime, period: OffsetPeriod, from: number): number | null {
  const shiftedEnd = shiftedUntil(period)
  if (from >= shiftedEnd - 1) return null
  const gapStart = period.start + period.offsetBefore
  const wall = nextWallTime(Math.max(gapStart - 1, from + period.offsetBefore))
  const shifted = wall === null ? null : wall - period.offsetBefore
  return shifted !== null && shifted < shiftedEnd ? shifted : null
}

/** Where the instants end that may be shifted ones: after a change forward, as long again as the gap. */
function shiftedUntil({ start, offset, offsetBefore }: OffsetPeriod): number {
  return offset > offsetBefore ? start + offset - offsetBefore : Number.NEGATIVE_INFINITY
}

/**
 * Counts stretch by stretch, those in which nothing is due left out: of a rare rule that is most of them. Only what
 * was shifted out of a gap is gone through, for it may fall together.
 */
function countDue(
  next: NextInstant,
  countWallTimes: (from: number, to: number) => number,
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
    const to = Math.min(high + offset, shownFrom(period, zone, policy, high + offset))
    total += Math.max(0, countWallTimes(Math.max(from, shownUntil(period, policy)), to))
    first = next(high - 1)
  }
  return total
}
