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
  /** The end of the run by the store's clock: what is due later is not owed. */
  readonly until?: number
  /** How many deliveries a process may have under way at once. */
  readonly concurrency?: number
  /** What the store still had overdue a while after the calm, in words. */
  readonly overdue?: readonly string[]
  /** The places of all records that every follower of the log was entitled to, ascending; given where there is one. */
  readonly logPlaces?: readonly number[]
  /** Records that are older than this may have been pruned. */
  readonly prunedBefore?: number
}
