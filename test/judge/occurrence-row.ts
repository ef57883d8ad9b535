import type { LogRecord } from './evidence.ts'

/** A row of the log about an occurrence, in the form shared by all stores. */
export interface OccurrenceRow {
  seq: number
  at: number
  type: string
  alarm_id: string
  occurrence: string
  data: string
}

/** Converts a row of the log. */
export function recordOf(row: OccurrenceRow): LogRecord {
  const data = JSON.parse(row.data) as { to?: string; reason?: string; retry_at?: string; attempts?: number }
  const scheduledFor = Number(row.occurrence.split('-')[1])
  return {
    position: row.seq,
    at: row.at,
    alarmId: row.alarm_id,
    occurrenceId: `${row.alarm_id}-${row.occurrence}`,
    scheduledFor,
    type: row.type,
    ...(row.type === 'alarm.skipped' && { skippedTo: Date.parse(data.to!), reason: data.reason! }),
    ...(row.type === 'alarm.failed' && data.attempts !== undefined && { attempts: data.attempts }),
    ...(data.retry_at !== undefined && { retryAt: Date.parse(data.retry_at) }),
  }
}
