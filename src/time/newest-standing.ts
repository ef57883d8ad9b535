import { newest } from './count-between.ts'
import type { DaysOff } from './days-off.ts'
import { localDay, whenDayComes } from './local-day.ts'
import type { RecurringRule } from './rule.ts'
import { type Schedule, scheduleOf } from './schedule.ts'
import { type Standing, standingNext } from './standing.ts'

/**
 * The newest standing up to a moment, from a known one on: the one to fire where many were missed. Null where even the
 * known one is later, or where all up to then are on days off. Runs of days off are jumped over, not walked.
 */
export function newestStanding(
  rule: RecurringRule,
  off: DaysOff | null,
  known: Standing,
  until: number,
): Standing | null {
  if (known.at > until) return null
  if (off !== null && rule.exclude?.move !== undefined) return newestMoved(rule, off, known, until)
  const schedule = scheduleOf(rule)
  const at = newest(schedule, known.at, until)
  return off === null ? { at, nominal: at } : newestOpen(rule, schedule, off, known, at)
}

/** What moves fires once a day at most: a year of it is a few hundred steps. */
function newestMoved(rule: RecurringRule, off: DaysOff, known: Standing, until: number): Standing {
  let last = known
  for (let next = standingNext(rule, off, last); next !== null && next.at <= until; ) {
    last = next
    next = standingNext(rule, off, last)
  }
  return last
}

function newestOpen(
  rule: RecurringRule,
  schedule: Schedule,
  off: DaysOff,
  known: Standing,
  found: number,
): Standing | null {
  for (let at = found; ; ) {
    const day = localDay(rule.timezone, at)
    if (!off.isOff(day)) return { at, nominal: at }
    const open = off.previousOpen(day)
    // The last moment of that working day, by the clock; the search goes on from there.
    const end =
      open === null ? known.at - 1 : Math.min(at, whenDayComes(rule.timezone, open + 1, known.at)) - 1
    if (end < known.at) return null
    at = newest(schedule, known.at, end)
  }
}
