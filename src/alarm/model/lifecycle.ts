import { WakefulError } from '../../error.ts'
import { type Alarm, recurs } from './alarm.ts'
import type { NewTimer } from './timer.ts'

/** The state of an alarm. Users see `awaiting` (its report) as `fired`. */
export const STATES = [
  'active',
  'paused',
  'awaiting',
  'fired',
  'completed',
  'failed',
  'timed_out',
  'cancelled',
] as const

/** One of the states of an alarm. */
export type State = (typeof STATES)[number]

/** The status users see. */
export type Status = Exclude<State, 'awaiting'>

/** A status in which nothing more will happen by itself. */
export type EndStatus = Exclude<Status, 'active' | 'paused'>

/** Everything that can happen to an alarm, with what it means. */
export const EVENTS = {
  delivered: 'an attempt succeeded, and no report is needed',
  delivered_unreported: 'an attempt succeeded, and the alarm now waits for a report',
  attempt_failed: 'an attempt failed, or a failure was reported, and attempts are left',
  exhausted: 'an attempt failed, or a failure was reported, and no attempts are left',
  target_gone: 'its target no longer exists (a webhook answered 410)',
  missed: 'its instant was missed, and its misfire policy is `skip`',
  ran_out: 'a recurring alarm has no further instant and no open occurrence',
  reported: 'the target reported success',
  report_overdue: 'no report came in time',
  cancel: 'the user cancels',
  pause: 'the user pauses',
  resume: 'the user resumes',
  skip_next: 'the user skips the next occurrence',
  fire_now: 'the user fires it now',
  retry: 'the user retries a failed occurrence',
  reschedule: 'the user reschedules it',
  set_again: 'the user sets the same key again, with another definition',
} as const

/** One of the events of the table. */
export type LifecycleEvent = keyof typeof EVENTS

type Refusal = 'already_ended' | 'conflict'

/** A cell of the table: the next state, or the error code of the refusal. */
export type Cell = State | Refusal

/** The same cell for each state in which an alarm has ended. */
const ifEnded = (cell: Cell) => ({
  fired: cell,
  completed: cell,
  failed: cell,
  timed_out: cell,
  cancelled: cell,
})
const refused = ifEnded('already_ended')
/** An outcome changes nothing if its alarm has already ended. */
const unchanged = {
  fired: 'fired',
  completed: 'completed',
  failed: 'failed',
  timed_out: 'timed_out',
  cancelled: 'cancelled',
} as const

/**
 * The lifecycle of an alarm: event × state → the next state, or the refusal. Events of the occurrences of a recurring alarm
 * do not change its state (see `nextCell`); those of `CHANGES_RECURRING` do.
 */
// biome-ignore format: a table
export const LIFECYCLE: Readonly<Record<LifecycleEvent, Readonly<Record<State, Cell>>>> = {
  delivered: { active: 'fired', paused: 'fired', awaiting: 'awaiting', ...unchanged },
  delivered_unreported: { active: 'awaiting', paused: 'awaiting', awaiting: 'awaiting', ...unchanged },
  attempt_failed: { active: 'active', paused: 'paused', awaiting: 'active', ...unchanged },
  exhausted: { active: 'failed', paused: 'failed', awaiting: 'failed', ...unchanged, timed_out: 'failed' },
  target_gone: { active: 'cancelled', paused: 'cancelled', awaiting: 'awaiting', ...unchanged },
  missed: { active: 'failed', paused: 'paused', awaiting: 'awaiting', ...unchanged },
  ran_out: { active: 'completed', paused: 'completed', awaiting: 'completed', ...unchanged },
  reported: { active: 'completed', paused: 'conflict', awaiting: 'completed', ...refused, timed_out: 'completed' },
  report_overdue: { active: 'active', paused: 'paused', awaiting: 'timed_out', ...unchanged },
  cancel: { active: 'cancelled', paused: 'cancelled', awaiting: 'cancelled', ...unchanged },
  pause: { active: 'paused', paused: 'paused', awaiting: 'conflict', ...refused },
  resume: { active: 'active', paused: 'active', awaiting: 'awaiting', ...refused },
  skip_next: { active: 'active', paused: 'paused', awaiting: 'conflict', ...refused },
  fire_now: { active: 'active', paused: 'active', awaiting: 'conflict', ...refused },
  retry: { active: 'conflict', paused: 'conflict', awaiting: 'conflict', ...refused, failed: 'active', timed_out: 'active' },
  reschedule: { active: 'active', paused: 'paused', awaiting: 'active', ...refused },
  set_again: { active: 'active', paused: 'paused', awaiting: 'active', ...ifEnded('active') },
}

/** The events that change the state of a recurring alarm. All others concern one of its occurrences. */
const CHANGES_RECURRING: ReadonlySet<LifecycleEvent> = new Set([
  'ran_out',
  'target_gone',
  'cancel',
  'pause',
  'resume',
  'reschedule',
  'set_again',
])

/** The next state, or the refusal, which `transition` throws. */
export function nextCell(state: State, event: LifecycleEvent, recurring: boolean): Cell {
  const cell = LIFECYCLE[event][state]
  if (!recurring || isRefusal(cell) || CHANGES_RECURRING.has(event)) return cell
  return state
}

/** The next state. Throws the refusal, if it is one. */
export function transition(state: State, event: LifecycleEvent, recurring: boolean, verb?: string): State {
  const cell = nextCell(state, event, recurring)
  if (!isRefusal(cell)) return cell
  const named = verb ?? event.replaceAll('_', ' ')
  if (cell === 'already_ended') throw new WakefulError('alarm.ended', { verb: named, status: state })
  if (event === 'retry') throw new WakefulError('alarm.not_retryable', { status: state })
  throw new WakefulError('alarm.wrong_status', { verb: named, status: statusOf(state) })
}

function isRefusal(cell: Cell): cell is Refusal {
  return cell === 'already_ended' || cell === 'conflict'
}

/** The status that users see. */
export function statusOf(state: State): Status {
  return state === 'awaiting' ? 'fired' : state
}

/** Whether nothing more will happen by itself. */
export function isEnd(state: State): state is EndStatus {
  return state !== 'active' && state !== 'paused' && state !== 'awaiting'
}

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

/** The result of an occurrence that has failed for good. */
export function failedResult(error: string, attempts: number): string {
  return `FAILED: ${error} (after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'})`
}

/** The counts of `stats`. Every alarm is in one of them. */
export type Bucket = 'pending' | 'fired' | 'completed' | 'failed' | 'cancelled' | 'timed_out'

/** The bucket that counts alarms in this state. */
export function bucketOf(state: State): Bucket {
  if (state === 'active' || state === 'paused') return 'pending'
  if (state === 'awaiting') return 'fired'
  return state === 'fired' ? 'completed' : state
}

/** A change of these counts: an alarm moves from one bucket to another, and a duration may be added. */
export interface Tally {
  readonly from: Bucket | null
  readonly to: Bucket | null
  readonly durationMs: number | null
}

/** The change of the counts when the state of an alarm changes. */
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
