import { LAST_SERIAL, type ReadScope, type Scope, type Serial } from '../../../alarm/index.ts'
import {
  breadthOf,
  EVENTS_FILTERED_MAX,
  type EventPage,
  type EventQuery,
  eventOf,
  filterValues,
  isCut,
  type LogEvent,
  scopeValues,
  type UserEvent,
} from '../../index.ts'
import type { Session } from '../connection/index.ts'
import { seqNamed } from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import { EVENT_QUERIES, type EventSource, LOG_QUERIES } from './event-queries.ts'
import type { LogHorizon } from './log-horizon.ts'

/** Reads a page of the log after a position, oldest first: up to the horizon, or one alarm's. */
export async function readEvents(
  session: Session,
  horizon: LogHorizon,
  scope: ReadScope,
  query: EventQuery,
): Promise<EventPage> {
  const { after, alarmId } = query
  if (alarmId !== undefined) {
    // One alarm's events are written in order: its timers are locked before each decision.
    const seq = await seqNamed(session, scope, { id: alarmId })
    if (seq === undefined) return { events: [], next: after, more: false }
    return readPage(session, 'alarm', [seq], query, LAST_SERIAL)
  }
  const [source, names] = [breadthOf(scope), scopeValues(scope)]
  if (horizon.whole > after) {
    const known = await readPage(session, source, names, query, horizon.whole)
    if (known.more) return known
  }
  return readPage(session, source, names, query, await horizon.advance())
}

/** Reads a page up to a position; with a filter it may end before. */
async function readPage(
  session: Session,
  source: EventSource,
  names: readonly (string | Serial)[],
  { after, limit, filter }: EventQuery,
  upTo: Serial,
): Promise<EventPage> {
  const statements = EVENT_QUERIES[source]
  const range = [...names, after, upTo]
  let rows: Awaited<ReturnType<Session['rows']>>
  let end: Serial | undefined
  if (filter === undefined) rows = await session.rows(statements.page, ...range, limit)
  else {
    end = (await session.row(statements.end, ...range, EVENTS_FILTERED_MAX - 1))?.[0] as Serial | undefined
    const { exact, beginnings, rest } = filterValues(filter)
    const values = [limit, EVENTS_FILTERED_MAX, exact, beginnings, ...rest]
    // Up to the same row: retention may delete events in between.
    rows = await session.rows(statements.filtered, ...names, after, end ?? upTo, ...values)
  }
  const events = rows.map(eventOf)
  const last = events.at(-1)?.seq ?? after
  if (isCut(events, limit)) return { events, next: last, more: true }
  if (end !== undefined) return { events, next: end, more: true }
  const isRead = filter !== undefined && upTo !== LAST_SERIAL && upTo > last
  return { events, next: isRead ? upTo : last, more: false }
}

/** Reads one alarm's newest events, in the order of the log. */
export async function newestEvents(session: Session, alarm: Serial, limit: number): Promise<LogEvent[]> {
  return (await session.rows(LOG_QUERIES.newestOfAlarm, alarm, limit)).map(eventOf).reverse()
}

/** Appends a user's event. */
export async function appendEvent(session: Session, scope: Scope, event: UserEvent): Promise<LogEvent> {
  const { id, type, at, subject, correlationId, data } = event
  const { tenant, owner } = scope
  const row = [id, tenant, owner, type, subject, correlationId, at, data]
  const seq = (await session.row(sql.appendEvent, ...row))![0] as Serial
  const none = { alarmId: null, occurrenceId: null, key: null, failure: null }
  return { ...event, tenant, owner, seq, origin: 'caught', ...none }
}
