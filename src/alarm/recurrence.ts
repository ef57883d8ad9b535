import { countBetween, type Rule, scheduleOf, wakeTime } from '../time/index.ts'
import type { Alarm } from './alarm.ts'
import type { TimerMove } from './change.ts'
import type { NewTimer, Timer } from './timer.ts'

/** The place of the occurrence after this one; null when the rule has no more (promise: calendar-true). */
export function following(alarm: Alarm, timer: NewTimer): NewTimer | null {
  if (alarm.rule.kind === 'once') return null
  if (alarm.rule.count !== undefined && timer.tick >= alarm.rule.count) return null
  const at = scheduleOf(alarm.rule).next(timer.scheduledFor)
  return at === null ? null : occurrenceAt(alarm, at, timer.tick + 1)
}

/** The timer of an alarm's occurrence at this instant, parked where the alarm is paused. */
export function occurrenceAt(alarm: Alarm, at: number, tick: number): NewTimer {
  const paused = alarm.pausedAt !== null
  return {
    kind: 'due',
    wakeAt: paused ? null : wakeTime(alarm.rule, alarm.id, at),
    scheduledFor: at,
    tick,
    generation: alarm.generation,
    attempt: 0,
    startedAt: null,
    waiting: paused ? 'paused' : null,
    delivered: false,
  }
}

/** Whether the rule ends some day, so that the alarm can run out of occurrences. */
export function mayRunOut(alarm: Alarm): boolean {
  const { rule } = alarm
  // An RRULE may say its own COUNT or UNTIL.
  return (
    rule.kind === 'rrule' || (rule.kind !== 'once' && (rule.end !== undefined || rule.count !== undefined))
  )
}

/** Lets go of an occurrence that waited for an earlier one to end (overlap: queue). */
export function unqueue(timer: Timer): TimerMove[] {
  if (timer.kind !== 'due' || timer.waiting !== 'overlap' || timer.wakeAt !== null) return []
  return [{ id: timer.id, wakeAt: timer.scheduledFor }]
}

/** A run of ticks that passed. */
export interface MissedRun {
  readonly count: number
  readonly last: number | null
  /** Whether the count is the number, or the least it can be. */
  readonly exact: boolean
}

/** The ticks after this one up to a moment, within the rule's own count. `last` is the newest, however many there are. */
export function missedAfter(alarm: Alarm, timer: NewTimer, until: number, limit: number): MissedRun {
  const { rule } = alarm
  const { scheduledFor, tick } = timer
  const run = countBetween(rule, scheduledFor, until, limit)
  const left = rule.kind === 'once' || rule.count === undefined ? Infinity : rule.count - tick
  if (run.count <= left && (run.exact || left > limit)) return run
  // The rule's own count ends before the newest instant does.
  return { count: left, last: left === 0 ? null : nthAfter(rule, scheduledFor, left, until), exact: true }
}

/** The n-th instant after another, of a rule that has so many up to `until`: found by halving, not by walking. */
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
