import type { Rule } from './rule.ts'
import { firstStep, intervalOf, type Schedule, scheduleOf } from './schedule.ts'

/** How many instants lie in a stretch of time, and the newest of them. */
export interface Counted {
  count: number
  last: number | null
  /** False when the limit was reached: there are more than `count`, and `last` is still the newest of all. */
  exact: boolean
}

/**
 * Counts a rule's instants in (after, until]: by arithmetic where the interval is fixed, otherwise by going
 * through at most `limit` of them, so that a month of downtime under `* * * * * *` stalls nobody.
 */
export function countBetween(rule: Rule, after: number, until: number, limit: number): Counted {
  const schedule = scheduleOf(rule)
  const everyMs = rule.kind === 'once' ? null : intervalOf(rule)
  if (rule.kind !== 'once' && everyMs !== null) {
    const from = schedule.next(after)
    const to = Math.min(until, rule.end ?? until)
    if (from === null || from > to) return { count: 0, last: null, exact: true }
    const first = firstStep(rule, everyMs)
    const last = first + Math.floor((to - first) / everyMs) * everyMs
    return { count: (last - from) / everyMs + 1, last, exact: true }
  }
  let count = 0
  let last: number | null = null
  for (let at = schedule.next(after); at !== null && at <= until; at = schedule.next(at)) {
    if (count >= limit) return { count, last: newest(schedule, at, until), exact: false }
    count++
    last = at
  }
  return { count, last, exact: true }
}

/** The newest instant up to `until`, by halving: `next` never decreases, so 50 questions are enough for any rule. */
function newest(schedule: Schedule, known: number, until: number): number {
  let last = known
  let low = known
  let high = Math.floor(until)
  while (low < high) {
    const middle = low + Math.floor((high - low) / 2)
    const found = schedule.next(middle)
    if (found !== null && found <= until) {
      last = found
      low = found
    } else high = middle
  }
  return last
}
