/** The name of a promise in docs/guarantees.md. */
export type Promised =
  | 'durable'
  | 'at-least-once'
  | 'recorded-once'
  | 'fenced'
  | 'cancel-wins'
  | 'never-early'
  | 'verbatim'
  | 'isolated'
  | 'bounded'
  | 'calendar-true'
  | 'liveness'

/** Each kind of violation, with the promise that it breaks. */
const BROKEN = {
  /** Acknowledged and due, but neither delivered nor logged as skipped. Breaks durable if no trace of the alarm is left. */
  lost: 'at-least-once',
  /** A definition was declared again, and changed the alarm. */
  redeclared: 'at-least-once',
  early: 'never-early',
  /** Delivered again although no fault hit the first delivery. */
  duplicate: 'at-least-once',
  /** A repeated delivery whose attempt number does not count the previous one. */
  uncounted: 'at-least-once',
  after_cancel: 'cancel-wins',
  /** A new occurrence began after a user's pause was acknowledged. */
  while_paused: 'cancel-wins',
  /** A call was refused because the alarm had ended, but it had not. */
  refused: 'cancel-wins',
  /** Begun while the previous occurrence, which had to finish first, was still open. */
  overlap: 'at-least-once',
  /** More attempts than allowed, or failed for good after fewer. */
  attempts: 'at-least-once',
  unrecorded: 'recorded-once',
  /** An accepted report is missing from the log. */
  report_lost: 'recorded-once',
  recorded_twice: 'recorded-once',
  /** A transactional handler's row is missing, duplicated, or present without its settle. */
  effect: 'recorded-once',
  /** Delivered, but never requested. */
  phantom: 'calendar-true',
  /** Delivered at an instant that is not in its rule, or no longer is. */
  off_calendar: 'calendar-true',
  /** Still pending after the final drain. */
  pending: 'liveness',
  /** Due and unblocked, but not begun. */
  late: 'liveness',
  /** The store accepted a write of a former lease holder. */
  former_owner: 'fenced',
  /** Begun by a process that did not hold the shard's lease at that moment. */
  unfenced: 'fenced',
  verbatim: 'verbatim',
  isolated: 'isolated',
  bounded: 'bounded',
  /** A reader of the log did not get each record once and in order, so an agent woken by the log was not woken. */
  log_missed: 'at-least-once',
  /** An error that no injected fault explains. */
  error: 'liveness',
  /** The run itself did not finish. */
  stuck: 'liveness',
} as const satisfies Readonly<Record<string, Promised>>

/** The name of a kind of violation. */
export type Breach = keyof typeof BROKEN

/** One violation of a promise. */
export interface Violation {
  readonly breach: Breach
  readonly promise: Promised
  readonly text: string
}

/** Makes a violation. */
export function violation(breach: Breach, text: string, promise: Promised = BROKEN[breach]): Violation {
  return { breach, promise, text }
}
