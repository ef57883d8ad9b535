import { type Alarm, recurs } from './alarm.ts'
import type { EndStatus, State } from './lifecycle.ts'
import type { NewTimer } from './timer.ts'

/** The outcome of the alarm's newest occurrence: a summary that keeps lists and stats fast. */
export interface Outcome {
  /** How the alarm ended; null while it is live. */
  readonly status: EndStatus | null
  readonly startedAt: number | null
  readonly lastFiredAt: number | null
  readonly completedAt: number | null
  readonly durationMs: number | null
  readonly result: string | null
  readonly lastError: string | null
  readonly failureCount: number
  readonly attempts: number
}

/** The outcome before anything has happened. */
export const NO_OUTCOME: Outcome = {
  status: null,
  startedAt: null,
  lastFiredAt: null,
  completedAt: null,
  durationMs: null,
  result: null,
  lastError: null,
  failureCount: 0,
  attempts: 0,
}

/** The figures `stats` answers with, one bucket per alarm. */
export type Bucket = 'pending' | 'fired' | 'completed' | 'failed' | 'cancelled' | 'timed_out'

/** The bucket an alarm in this state is counted in. */
export function bucketOf(state: State): Bucket {
  if (state === 'active' || state === 'paused') return 'pending'
  if (state === 'awaiting') return 'fired'
  return state === 'fired' ? 'completed' : state
}

/** How the figures change: the alarm leaves one bucket for another, and a duration may be added. */
export interface Tally {
  readonly from: Bucket | null
  readonly to: Bucket | null
  readonly durationMs: number | null
}

/** The figures' change when an alarm goes from one state to another. */
export function tallyOf(from: State, to: State, durationMs: number | null): Tally {
  return { from: bucketOf(from), to: bucketOf(to), durationMs }
}

/** The state of an alarm, from its record, its timers and its outcome. */
export function stateOf(alarm: Alarm, timers: readonly NewTimer[], outcome: Outcome | null): State {
  if (outcome !== null && outcome.status !== null) return outcome.status
  if (
    !recurs(alarm) &&
    timers.some((timer) => timer.kind === 'report' && timer.generation === alarm.generation)
  ) {
    return 'awaiting'
  }
  return alarm.pausedAt === null ? 'active' : 'paused'
}
