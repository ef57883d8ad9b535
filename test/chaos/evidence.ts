import type { Entry } from './ledger.ts'

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
}
