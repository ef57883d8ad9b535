import { type Rule, type Schedule, scheduleOf } from '../rules/index.ts'

/** How many instants of a rule are in a range of time, and the newest of them. */
export interface InstantCount {
  count: number
  last: number | null
  /** False if the limit was reached: there are more than `count`, but `last` is still the newest of all. */
  exact: boolean
}

/**
 * Counts a rule's instants in (after, until]. Intervals, cron and calendar steps are counted by arithmetic, so that a
 * year of downtime under `* * * * * *` takes milliseconds. Others are enumerated, up to `limit`.
 */
export function countBetween(rule: Rule, after: number, until: number, limit: number): InstantCount {
  const schedule = scheduleOf(rule)
  const first = schedule.next(after)
  if (first === null || first > until) return { count: 0, last: null, exact: true }
  if (schedule.count !== undefined) {
    return { count: schedule.count(after, until), last: newestUpTo(schedule, first, until), exact: true }
  }
  let count = 0
  let last: number | null = null
  for (let at: number | null = first; at !== null && at <= until; at = schedule.next(at)) {
    if (count >= limit) return { count, last: newestUpTo(schedule, at, until), exact: false }
    count++
    last = at
  }
  return { count, last, exact: true }
}

/**
 * The newest instant up to `until`, by bisection: `next` is monotonic, so 50 calls are enough for any rule. For a rare
 * rule each call is a long search, so the loop makes none whose answer follows from the one before.
 */
export function newestUpTo(schedule: Schedule, first: number, until: number): number {
  const reached = (at: number | null): at is number => at !== null && at <= until
  let last = first
  let high = Math.floor(until)
  while (last < high && reached(schedule.next(last))) {
    // There are later ones: the instant after a midpoint is the newest known, if it is not too late.
    for (let low = last; low < high; ) {
      const middle = low + Math.floor((high - low) / 2)
      const found = schedule.next(middle)
      if (reached(found)) {
        last = found
        break
      }
      high = middle
    }
  }
  return last
}

/** The n-th instant after another, found by bisection; the rule has at least n up to `until`. */
export function nthAfter(rule: Rule, after: number, n: number, until: number): number {
  let [low, high] = [after, until]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    const { count, exact } = countBetween(rule, after, middle, n)
    if (count >= n || !exact) high = middle
    else low = middle
  }
  return high
}
