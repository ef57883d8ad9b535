import { WakefulError } from '../../error.ts'

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
  set_again: 'the user sets the same key again',
} as const

/** One of the events of the table. */
export type LifecycleEvent = keyof typeof EVENTS

type Refusal = 'already_ended' | 'conflict'

/** A cell: the state that follows, or the code the call is refused with. */
export type Cell = State | Refusal

const ended = (cell: Cell) => ({
  fired: cell,
  completed: cell,
  failed: cell,
  timed_out: cell,
  cancelled: cell,
})
const over = ended('already_ended')
/** An outcome that arrives for an alarm which is no longer waiting for it changes nothing. */
const unmoved = {
  fired: 'fired',
  completed: 'completed',
  failed: 'failed',
  timed_out: 'timed_out',
  cancelled: 'cancelled',
} as const

/**
 * The whole life of an alarm: event × state → the state that follows, or the refusal.
 * A recurring alarm's occurrences do not move it (see `next`); only the events of `MOVES_RECURRING` do.
 */
export const LIFECYCLE: Readonly<Record<LifecycleEvent, Readonly<Record<State, Cell>>>> = {
  delivered: { active: 'fired', paused: 'fired', awaiting: 'awaiting', ...unmoved },
  delivered_unreported: { active: 'awaiting', paused: 'awaiting', awaiting: 'awaiting', ...unmoved },
  attempt_failed: { active: 'active', paused: 'paused', awaiting: 'active', ...unmoved },
  exhausted: { active: 'failed', paused: 'failed', awaiting: 'failed', ...unmoved, timed_out: 'failed' },
  target_gone: { active: 'cancelled', paused: 'cancelled', awaiting: 'awaiting', ...unmoved },
  missed: { active: 'failed', paused: 'paused', awaiting: 'awaiting', ...unmoved },
  ran_out: { active: 'completed', paused: 'completed', awaiting: 'completed', ...unmoved },
  reported: {
    active: 'completed',
    paused: 'conflict',
    awaiting: 'completed',
    ...over,
    timed_out: 'completed',
  },
  report_overdue: { active: 'active', paused: 'paused', awaiting: 'timed_out', ...unmoved },
  cancel: { active: 'cancelled', paused: 'cancelled', awaiting: 'cancelled', ...unmoved },
  pause: { active: 'paused', paused: 'paused', awaiting: 'conflict', ...over },
  resume: { active: 'active', paused: 'active', awaiting: 'awaiting', ...over },
  skip_next: { active: 'active', paused: 'paused', awaiting: 'conflict', ...over },
  fire_now: { active: 'active', paused: 'active', awaiting: 'conflict', ...over },
  retry: {
    active: 'conflict',
    paused: 'conflict',
    awaiting: 'conflict',
    ...over,
    failed: 'active',
    timed_out: 'active',
  },
  reschedule: { active: 'active', paused: 'paused', awaiting: 'active', ...over },
  set_again: { active: 'active', paused: 'active', awaiting: 'active', ...ended('active') },
}

/** The events that move a recurring alarm; every other belongs to one of its occurrences and leaves it as it is. */
const MOVES_RECURRING: ReadonlySet<LifecycleEvent> = new Set([
  'ran_out',
  'target_gone',
  'cancel',
  'pause',
  'resume',
  'reschedule',
  'set_again',
])

/** The state that follows, or the refusal; `transition` throws the refusal. */
export function next(state: State, event: LifecycleEvent, recurring: boolean): Cell {
  const cell = LIFECYCLE[event][state]
  if (!recurring || isRefusal(cell) || MOVES_RECURRING.has(event)) return cell
  return state
}

/** The state that follows, or a thrown refusal that says why. */
export function transition(state: State, event: LifecycleEvent, recurring: boolean, verb?: string): State {
  const cell = next(state, event, recurring)
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
