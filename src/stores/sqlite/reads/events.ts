import { type Scope, utf8Length } from '../../../alarm/index.ts'
import {
  type EventQuery,
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
export function readEvents(session: Session, scope: Scope, query: EventQuery): LogEvent[] {
  const page = new PageLimit(query.limit, LOG_BYTES_MAX)
  const events: LogEvent[] = []
  for (const row of rowsOf(session, scope, query)) {
    const event = eventOf(row)
    if (!page.add(utf8Length(event.data))) break
    events.push(event)
  }
  return events
}

function rowsOf(session: Session, scope: Scope, { after, limit, alarmId }: EventQuery) {
  if (alarmId === undefined)
    return session.eachValues(sql.eventsOfOwner, scope.tenant, scope.owner, after, limit)
  const alarm = alarmNamed(session, scope, { id: alarmId })
  return alarm === undefined ? [] : session.eachValues(sql.eventsOfAlarm, alarm.seq, after, limit)
}

/** Appends a user's event. */
export function appendEvent(session: Session, scope: Scope, event: UserEvent): LogEvent {
  const { id, type, at, subject, correlationId, data } = event
  const { tenant, owner } = scope
  const row = [id, tenant, owner, type, 'caught', null, null, subject, correlationId, null, at, data] as const
  const { lastInsertRowid: seq } = session.run(sql.insertEvent, ...row)
  const none = { alarmId: null, occurrenceId: null, key: null, failure: null }
  return { ...event, tenant, owner, seq, origin: 'caught', ...none }
}
