import type { Entry } from './entries.ts'

/** A record of the event log, in the form shared by all stores. */
export interface LogRecord {
  /** Its position in the log. Positions only grow. */
  readonly position: number
  readonly at: number
  readonly alarmId: string
  readonly occurrenceId: string
  /** The instant that identifies the occurrence. */
  readonly scheduledFor: number
  readonly type: string
  /** For skipped occurrences: the last skipped instant, and the reason. */
  readonly skippedTo?: number
  readonly reason?: string
  /** For a failed attempt: when the next one begins. */
  readonly retryAt?: number
  /** For an occurrence that failed for good: the number of attempts. */
  readonly attempts?: number
}

/** The judge's input: what the processes wrote, and what the store contains after the last of them closed. */
export interface Evidence {
  readonly entries: readonly Entry[]
  /** The log's records about occurrences, oldest first. */
  readonly log: readonly LogRecord[]
  /** The rows that transactional handlers wrote, by occurrence. */
  readonly effects: readonly string[]
  /** Alarms still pending after the final drain. */
  readonly pending: readonly string[]
  /** Accepted writes of processes that no longer held the lease, if the store was instrumented to record writers. */
  readonly formerOwners?: readonly string[]
  /**
   * The end of the run by the store's clock, if it was not drained. Instants after it, or too close to it to begin, are
   * not owed. If there were faults, a `calm` entry is required; without it nothing is owed at the end.
   */
  readonly until?: number
  /** How many deliveries a process may run at once. */
  readonly concurrency?: number
  /** How soon a due delivery must begin after its instant, or after the last fault (10 s). */
  readonly promptMs?: number
  /** How far a record's time may lie before its write (5 s): a process's clock may lag, but is never ahead. */
  readonly clockLagMs?: number
  /** The largest allowed median lateness of deliveries due long after the last fault. */
  readonly punctualMs?: number
  /** How long a delivery may stay unfinished after its last activity (10 s). */
  readonly endsMs?: number
  /** What the store still had overdue a while after the last fault, as text. */
  readonly overdue?: readonly string[]
  /** The positions of all records that every reader of the log must get, ascending. Absent if there is no reader. */
  readonly logPositions?: readonly number[]
  /** The positions of all records that a reader of the log may get. */
  readonly logAllowed?: readonly number[]
  /** Records older than this may have been pruned. */
  readonly prunedBefore?: number
}
