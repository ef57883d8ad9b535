import type { Scope } from '../../alarm/index.ts'
import { type EventRow, eventOf, type LogEvent, type OwnEvent } from '../index.ts'
import * as sql from './queries.ts'
import type { Session } from './session.ts'
import { alarmNamed } from './snapshots.ts'

/** Reads the log after a place, oldest first: one owner's, or one alarm's. */
export function readEvents(
  session: Session,
  scope: Scope,
  query: { after: number; limit: number; alarmId?: string },
): LogEvent[] {
  if (query.alarmId === undefined) {
    return session
      .all<EventRow>(sql.eventsOfOwner, scope.tenant, scope.owner, query.after, query.limit)
      .map(eventOf)
  }
  const alarm = alarmNamed(session, scope, { id: query.alarmId })
  if (alarm === undefined) return []
  return session.all<EventRow>(sql.eventsOfAlarm, alarm.seq, query.after, query.limit).map(eventOf)
}

/** Reads one alarm's newest events, oldest of them first. */
export function newestEvents(session: Session, scope: Scope, alarmId: string, limit: number): LogEvent[] {
  const alarm = alarmNamed(session, scope, { id: alarmId })
  if (alarm === undefined) return []
  return session.all<EventRow>(sql.newestEventsOfAlarm, alarm.seq, limit).map(eventOf).reverse()
}

/** Appends an event that a user caught elsewhere. */
export function appendEvent(session: Session, scope: Scope, event: OwnEvent): LogEvent {
  const { id, type, at, subject, correlationId, data } = event
  const { tenant, owner } = scope
  const row = [id, tenant, owner, type, 'caught', null, null, subject, correlationId, at, data] as const
  const { lastInsertRowid: seq } = session.run(sql.insertEvent, ...row)
  return { ...event, tenant, owner, seq, origin: 'caught', alarmId: null, occurrenceId: null, key: null }
}
