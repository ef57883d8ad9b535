import { type Rule, type Schedule, scheduleOf } from '../rules/index.ts'

/** How many instants lie in a stretch of time, and the newest of them. */
export interface InstantCount {
  count: number
  last: number | null
  /** False when the limit was reached: there are more than `count`, and `last` is still the newest of all. */
  exact: boolean
}

/**
 * Counts a rule's instants in (after, until]: by arithmetic for intervals, cron and calendar steps, so that a year
 * of downtime under `* * * * * *` is counted in milliseconds; otherwise by going through at most `limit` of them.
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
 * The newest instant up to `until`, by halving: `next` never decreases, so 50 questions are enough for any rule. Of a
 * rare rule each question is a long search, so none is asked that the one before has answered.
 */
export function newestUpTo(schedule: Schedule, known: number, until: number): number {
  const reached = (at: number | null): at is number => at !== null && at <= until
  let last = known
  let high = Math.floor(until)
  while (last < high && reached(schedule.next(last))) {
    // Some are left: the one after a middle that is not too late is the newest known.
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
