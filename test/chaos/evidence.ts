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
  /** Writes that were accepted of a process that was no longer the owner, where the store was made to note who writes. */
  readonly formerOwners?: readonly string[]
}

/** A row of the log about an occurrence, as every store keeps it. */
export interface OccurrenceRow {
  seq: number
  at: number
  type: string
  alarm_id: string
  occurrence: string
  data: string
}

/** Reads a row of the log. */
export function recordOf(row: OccurrenceRow): LogRecord {
  const data = JSON.parse(row.data) as { to?: string; reason?: string }
  const scheduledFor = Number(row.occurrence.split('-')[1])
  return {
    place: row.seq,
    at: row.at,
    alarmId: row.alarm_id,
    occurrenceId: `${row.alarm_id}-${row.occurrence}`,
    scheduledFor,
    type: row.type,
    ...(row.type === 'alarm.skipped' && { skippedTo: Date.parse(data.to!), reason: data.reason! }),
  }
}
