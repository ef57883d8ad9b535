import { type Scope, type Serial, utf8Length } from '../../../alarm/index.ts'
import {
  type EventRow,
  eventOf,
  LOG_BYTES_MAX,
  type LogEvent,
  PageLimit,
  type UserEvent,
} from '../../index.ts'
import type { Session } from '../connection/index.ts'
import { alarmNamed } from '../rows/index.ts'
import * as sql from '../sql/index.ts'

/** Reads one owner's or one alarm's events after a position, oldest first. */
export function readEvents(
  session: Session,
  scope: Scope,
  query: { after: number; limit: number; alarmId?: string },
): LogEvent[] {
  if (query.alarmId === undefined) {
    return page(session.each(sql.eventsOfOwner, scope.tenant, scope.owner, query.after, query.limit), query)
  }
  const alarm = alarmNamed(session, scope, { id: query.alarmId })
  if (alarm === undefined) return []
  return page(session.each(sql.eventsOfAlarm, alarm.seq, query.after, query.limit), query)
}

function page(rows: Iterable<EventRow>, { limit }: { limit: number }): LogEvent[] {
  const limits = new PageLimit(limit, LOG_BYTES_MAX)
  const events: LogEvent[] = []
  for (const row of rows) {
    if (!limits.add(utf8Length(row.data))) break
    events.push(eventOf(row))
  }
  return events
}

/** Reads one alarm's newest events, in the order of the log. */
export function newestEvents(session: Session, alarm: Serial, limit: number): LogEvent[] {
  return session.all<EventRow>(sql.newestEventsOfAlarm, alarm, limit).map(eventOf).reverse()
}

/** Appends a user's event. */
export function appendEvent(session: Session, scope: Scope, event: UserEvent): LogEvent {
  const { id, type, at, subject, correlationId, data } = event
  const { tenant, owner } = scope
  const row = [id, tenant, owner, type, 'caught', null, null, subject, correlationId, at, data] as const
  const { lastInsertRowid: seq } = session.run(sql.insertEvent, ...row)
  return { ...event, tenant, owner, seq, origin: 'caught', alarmId: null, occurrenceId: null, key: null }
}
