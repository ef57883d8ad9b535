import type { Entry } from './entries.ts'

/** A record of a store's log, in words every store shares. */
export interface LogRecord {
  /** Its place in the log: grows with every record. */
  readonly place: number
  readonly at: number
  readonly alarmId: string
  readonly occurrenceId: string
  /** The instant that names the occurrence. */
  readonly scheduledFor: number
  readonly type: string
  /** Of a run of skipped occurrences: its last instant, and why. */
  readonly skippedTo?: number
  readonly reason?: string
  /** Of a failed attempt: when the next one is to begin. */
  readonly retryAt?: number
  /** Of one that failed for good: how often it was tried. */
  readonly attempts?: number
}

/** All the judge is given: what the processes wrote down, and what the store says after the last of them closed. */
export interface Evidence {
  readonly entries: readonly Entry[]
  /** The log's records about occurrences, oldest first. */
  readonly log: readonly LogRecord[]
  /** The rows that transactional handlers wrote, by occurrence. */
  readonly effects: readonly string[]
  /** Alarms that still wait for something although all was to be drained. */
  readonly pending: readonly string[]
  /** Writes that were accepted of a process that was no longer the owner, where the store was made to note who writes. */
  readonly formerOwners?: readonly string[]
  /**
   * The end of the run by the store's clock, where it was not drained: what is due later is not owed, nor what had no
   * time to begin. Where there were faults, a `calm` must have been noted, or nothing is owed at the end.
   */
  readonly until?: number
  /** How many deliveries a process may have under way at once. */
  readonly concurrency?: number
  /** How soon after its instant, or after the calm, what is due must begin (10 s). */
  readonly promptMs?: number
  /** How late at most half of what comes due long after the calm may begin. */
  readonly punctualMs?: number
  /** How long after its last sign of life what has begun may stay without an end (10 s). */
  readonly endsMs?: number
  /** What the store still had overdue a while after the calm, in words. */
  readonly overdue?: readonly string[]
  /** The places of all records that every follower of the log was entitled to, ascending; given where there is one. */
  readonly logPlaces?: readonly number[]
  /** The places of all records that a follower of the log may be given at all. */
  readonly logOwn?: readonly number[]
  /** Records that are older than this may have been pruned. */
  readonly prunedBefore?: number
}
