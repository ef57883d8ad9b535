import { countIn, DAY_S, nthFrom, SEARCH_WORK_MAX, WALL_S_MAX } from '../civil/index.ts'
import { measureSearchWork } from '../clock/index.ts'
import { periodBlocks, unitBlocks } from './blocks.ts'
import { type RruleDates, untilOnWallClock } from './moment.ts'
import type { RruleFreq, RruleParts } from './parts.ts'

/** The instances of one RRULE, its COUNT and UNTIL applied, in seconds of the wall clock. */
export interface RruleInstances {
  /** The first of all, ignoring UNTIL; null if there is none before the year 10000. */
  first: number | null
  /** The first at or after this second; null if there is none. */
  from(second: number): number | null
  /** How many are in [from, to). */
  count(from: number, to: number): number
}

/** Where a rule starts: its DTSTART, which supplies the parts it leaves out, and the second before which instances are ignored, also by COUNT. */
export interface RruleOrigin {
  startS: number
  /** The same as an instant. */
  startAt: number
  fromS: number
}

/** Seconds per period, for the frequencies with a fixed one. */
export const UNIT_S: Readonly<Partial<Record<RruleFreq, number>>> = {
  DAILY: DAY_S,
  HOURLY: 3600,
  MINUTELY: 60,
  SECONDLY: 1,
}

/**
 * Compiles one RRULE. If a set has several, each gets its share of the search limit. COUNT counts from the start and includes
 * excluded dates, as RFC 5545 says.
 */
export function instancesOf(
  parts: RruleParts,
  { startS, fromS }: RruleOrigin,
  zone: string,
  ruleCount: number,
): RruleInstances {
  const unitS = UNIT_S[parts.freq]
  const alone = unitS === undefined ? periodBlocks(parts, startS) : unitBlocks(parts, startS, unitS)
  const blocks = ruleCount === 1 ? alone : { ...alone, cost: (alone.cost ?? 1) * ruleCount }
  const until = parts.until && untilOnWallClock(parts.until, zone)
  // Computed lazily and once, because a huge COUNT may take milliseconds.
  let lastCounted: number | undefined
  const lastOf = (found: number) => {
    const { count } = parts
    if (count === undefined) return until?.last ?? WALL_S_MAX
    // Soon after the start, the count cannot be used up yet.
    if (((found - fromS) / DAY_S + 2) * blocks.dailyMax <= count) return found
    // If the last is centuries ahead and not found, there is no end.
    lastCounted ??= nthFrom(blocks, fromS, count) ?? WALL_S_MAX
    return lastCounted
  }
  // Wall seconds before the last that are past UNTIL all the same, because the clock was set back.
  const [pastUntilFrom, pastUntilTo] = until?.late ?? [0, 0]
  return {
    first: nthFrom(blocks, fromS),
    from(second) {
      let found = nthFrom(blocks, Math.max(second, fromS))
      if (found !== null && found >= pastUntilFrom && found < pastUntilTo)
        found = nthFrom(blocks, Math.max(pastUntilTo, fromS))
      return found === null || found > lastOf(found) ? null : found
    },
    count(from, to) {
      const low = Math.max(from, fromS)
      const high = Math.min(to, lastOf(to) + 1)
      return (
        countIn(blocks, low, high) -
        countIn(blocks, Math.max(low, pastUntilFrom), Math.min(high, pastUntilTo))
      )
    },
  }
}

/**
 * Finds the next instance of the recurrence set: its RRULEs, plus RDATE, minus EXDATE. `removedUntil` is the end of the
 * removed day in which an instance is; null if its day is not removed.
 */
export function nextInSet(
  rules: readonly Pick<RruleInstances, 'from'>[],
  { added, removed }: RruleDates,
  removedUntil: (found: number) => number | null,
): (second: number) => number | null {
  return (from) => {
    const work = measureSearchWork()
    for (let second = from; ; ) {
      const index = added.indexFrom(second)
      let found = index < added.length ? added.at(index) : Number.POSITIVE_INFINITY
      for (const rule of rules) found = Math.min(found, rule.from(second) ?? Number.POSITIVE_INFINITY)
      if (found > WALL_S_MAX) return null
      const dayEnd = removedUntil(found)
      if (dayEnd !== null) second = dayEnd
      else if (removed.has(found)) second = found + 1
      else return found
      // The limit is per call, not per removed date.
      if (work() > SEARCH_WORK_MAX * rules.length) return null
    }
  }
}

/** How many instances of a recurrence set with one RRULE are in [from, to). */
export function countInSet(rule: RruleInstances, dates: RruleDates, from: number, to: number): number {
  const { added, removed, removedDays } = dates
  const isNamed = (second: number) => rule.from(second) === second
  const isRemovedDay = (second: number) => removedDays.has(Math.floor(second / DAY_S))
  let count = rule.count(from, to)
  for (const day of removedDays) {
    count -= rule.count(Math.max(from, day * DAY_S), Math.min(to, (day + 1) * DAY_S))
  }
  for (const second of removed)
    if (second >= from && second < to && !isRemovedDay(second) && isNamed(second)) count--
  for (let index = added.indexFrom(from); index < added.length && added.at(index) < to; index++) {
    const second = added.at(index)
    if (!removed.has(second) && !isRemovedDay(second) && !isNamed(second)) count++
  }
  return count
}
