/** A promise of docs/guarantees.md by its name. */
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

/** What can be broken, with the promise that it breaks. */
const BROKEN = {
  /** Acknowledged, due, neither delivered nor in the log as skipped. Durable, where no trace of the alarm is left. */
  lost: 'at-least-once',
  early: 'never-early',
  /** Delivered again with no fault on the first delivery. */
  duplicate: 'at-least-once',
  /** A repeated delivery whose attempt does not count the one before. */
  uncounted: 'at-least-once',
  after_cancel: 'cancel-wins',
  /** A new occurrence began although the user's own pause had been answered. */
  while_parked: 'cancel-wins',
  /** The user was told that the alarm had ended, or is not his to change any more, and it had not. */
  refused: 'cancel-wins',
  /** Begun while one before it was still open, which was to come first. */
  overlap: 'at-least-once',
  /** Tried more often than was asked for, or given up before. */
  tries: 'at-least-once',
  unrecorded: 'recorded-once',
  /** A report that was taken in is not what the log says. */
  report_lost: 'recorded-once',
  recorded_twice: 'recorded-once',
  /** A transactional handler's row is missing, or there twice, or there without its settle. */
  effect: 'recorded-once',
  /** Delivered, but nobody asked for it. */
  phantom: 'calendar-true',
  /** Delivered at an instant that its rule does not have, or no longer has. */
  off_calendar: 'calendar-true',
  /** Still waiting after everything was drained. */
  pending: 'liveness',
  /** Due, nothing in its way, and not begun. */
  late: 'liveness',
  /** The store accepted what a former owner wrote. */
  former_owner: 'fenced',
  /** Begun by a process that did not own the shard at that moment. */
  unfenced: 'fenced',
  verbatim: 'verbatim',
  isolated: 'isolated',
  bounded: 'bounded',
  /** A follower of the log was not given each record once, in order: whoever is woken by the log was not woken. */
  log_missed: 'at-least-once',
  /** An error that no fault explains. */
  trouble: 'liveness',
  /** The run itself did not come to its end. */
  stuck: 'liveness',
} as const satisfies Readonly<Record<string, Promised>>

/** The word for one way of breaking a promise. */
export type Breach = keyof typeof BROKEN

/** One broken promise. */
export interface Violation {
  readonly breach: Breach
  readonly promise: Promised
  readonly text: string
}

/** Says that a promise was broken. */
export function violation(breach: Breach, text: string, promise: Promised = BROKEN[breach]): Violation {
  return { breach, promise, text }
}
