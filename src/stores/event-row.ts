import type { Origin, Scope, Serial } from '../alarm/index.ts'
import type { LogEvent } from './store.ts'

/** A row of the log, with its alarm's id and key. */
export interface EventRow {
  seq: Serial
  id: string
  tenant: string
  owner: string
  type: string
  origin: Origin
  alarm_id: string | null
  occurrence: string | null
  key: string | null
  subject: string | null
  correlation_id: string | null
  at: number
  data: string
}

/** The event of a row. */
export function eventOf(row: EventRow): LogEvent {
  const { alarm_id: alarmId, occurrence } = row
  return {
    seq: row.seq,
    id: row.id,
    tenant: row.tenant,
    owner: row.owner,
    type: row.type,
    origin: row.origin,
    alarmId,
    occurrenceId: alarmId === null || occurrence === null ? null : `${alarmId}-${occurrence}`,
    key: row.key,
    subject: row.subject,
    correlationId: row.correlation_id,
    at: row.at,
    data: row.data,
  }
}

/**
 * The name in `meta` of the newest event that retention has deleted of an owner: a reader that continues from before it has
 * missed events. It has the length of the tenant's name, so that no two owners share it.
 */
export function prunedEventsMeta({ tenant, owner }: Scope): string {
  return `gone ${[...tenant].length} ${tenant}${owner}`
}
