import { LAST_SERIAL, type ReadScope, type Scope, type Serial, utf8Length } from '../../../alarm/index.ts'
import {
  breadthOf,
  EVENTS_FILTERED_MAX,
  type EventPage,
  type EventQuery,
  eventOf,
  filterValues,
  isCut,
  LOG_BYTES_MAX,
  type LogEvent,
  PageLimit,
  scopeValues,
  type UserEvent,
} from '../../index.ts'
import type { Session } from '../connection/index.ts'
import { alarmNamed } from '../rows/index.ts'
import * as sql from '../sql/index.ts'

/** An event, with its alarm's id and key: `e` joined with `a`. */
const EVENT = `e.seq, e.id, e.tenant, e.owner, e.type, e.origin, a.id AS alarm_id, e.occurrence, a.key,
  e.subject, e.correlation_id, e.failure, e.at, e.data`

/** Whole parts of the log, whoever owns them. */
export const LOG_QUERIES = {
  /** For exports. */
  everything: `SELECT ${EVENT} FROM wakeful_events e LEFT JOIN wakeful_alarms a ON a.seq = e.alarm
  WHERE e.seq > ? ORDER BY e.seq LIMIT ?`,
  newestOfAlarm: `SELECT ${EVENT} FROM wakeful_events e LEFT JOIN wakeful_alarms a ON a.seq = e.alarm
  WHERE e.alarm = ? ORDER BY e.seq DESC LIMIT ?`,
} as const

/** Whose events are read: one owner's, a tenant's, all, or one alarm's. */
type EventSource = 'owner' | 'tenant' | 'all' | 'alarm'

/** The statements of each source; queries.test.ts checks their plans. */
export const EVENT_QUERIES = {
  owner: queries('e.tenant = ?1 AND e.owner = ?2', 3),
  tenant: queries('e.tenant = ?1', 2),
  all: queries('true', 1),
  alarm: queries('e.alarm = ?1', 2),
}

/** `next`: the number of the first parameter after those of the source: two positions, the limit, the values of the filter. */
function queries(source: string, next: number) {
  const $ = (offset: number) => `?${next + offset}`
  const range = `${source} AND e.seq > ${$(0)} AND e.seq <= ${$(1)}`
  const type = `(${$(3)} IS NULL OR e.type IN (SELECT value FROM json_each(${$(3)}))
    OR EXISTS (SELECT 1 FROM json_each(${$(4)}) WHERE substr(e.type, 1, length(value)) = value))`
  return {
    /** The position at which a page with a filter ends, if the log is longer. */
    end: `SELECT e.seq FROM wakeful_events e WHERE ${range} ORDER BY e.seq LIMIT 1 OFFSET ${EVENTS_FILTERED_MAX - 1}`,
    page: `SELECT ${EVENT} FROM wakeful_events e LEFT JOIN wakeful_alarms a ON a.seq = e.alarm
  WHERE ${range} ORDER BY e.seq LIMIT ${$(2)}`,
    filtered: `SELECT ${EVENT} FROM wakeful_events e LEFT JOIN wakeful_alarms a ON a.seq = e.alarm
  WHERE ${range} AND ${type} AND (${$(5)} IS NULL OR e.origin = ${$(5)}) AND (${$(6)} IS NULL OR e.subject = ${$(6)})
    AND (${$(7)} IS NULL OR e.correlation_id = ${$(7)}) AND (${$(8)} IS NULL OR e.at >= ${$(8)})
    AND (${$(9)} IS NULL OR e.at < ${$(9)}) ORDER BY e.seq LIMIT ${$(2)}`,
  }
}

/** Reads a page of the log after a position, oldest first. */
export function readEvents(session: Session, scope: ReadScope, query: EventQuery): EventPage {
  const { after, alarmId } = query
  if (alarmId === undefined) {
    const newest = session.get<{ seq: number }>(sql.lastEvent)?.seq ?? 0
    return readPage(session, breadthOf(scope), scopeValues(scope), query, newest)
  }
  const alarm = alarmNamed(session, scope, { id: alarmId })
  if (alarm === undefined) return { events: [], next: after, more: false }
  return readPage(session, 'alarm', [alarm.seq], query, LAST_SERIAL)
}

/** Reads a page up to a position; with a filter it may end before. */
function readPage(
  session: Session,
  source: EventSource,
  names: readonly (string | Serial)[],
  { after, limit, filter }: EventQuery,
  upTo: Serial,
): EventPage {
  const statements = EVENT_QUERIES[source]
  const end = filter && session.get<{ seq: Serial }>(statements.end, ...names, after, upTo)?.seq
  const range = [...names, after, end ?? upTo, limit] as const
  const rows =
    filter === undefined
      ? session.eachValues(statements.page, ...range)
      : session.eachValues(statements.filtered, ...range, ...boundFilter(filter))
  const page = new PageLimit(limit, LOG_BYTES_MAX)
  const events: LogEvent[] = []
  for (const row of rows) {
    const event = eventOf(row)
    if (!page.add(utf8Length(event.data))) break
    events.push(event)
  }
  const last = events.at(-1)?.seq ?? after
  if (isCut(events, limit)) return { events, next: last, more: true }
  if (end !== undefined) return { events, next: end, more: true }
  const isRead = filter !== undefined && upTo !== LAST_SERIAL && upTo > last
  return { events, next: isRead ? upTo : last, more: false }
}

function boundFilter(filter: NonNullable<EventQuery['filter']>) {
  const { exact, beginnings, rest } = filterValues(filter)
  return [exact && JSON.stringify(exact), beginnings && JSON.stringify(beginnings), ...rest] as const
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
