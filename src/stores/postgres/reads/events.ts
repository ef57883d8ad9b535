import type { Origin, Scope, Serial } from '../../../alarm/index.ts'
import { eventOf, isCut, type LogEvent, type UserEvent, type Values } from '../../index.ts'
import type { Database, Session } from '../connection/index.ts'
import { alarmNamed } from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import type { LogHorizon } from './log-horizon.ts'

/** Reads the log after a position, oldest first: one owner's up to the horizon, or one alarm's. */
export async function readEvents(
  database: Database,
  horizon: LogHorizon,
  scope: Scope,
  query: { after: Serial; limit: number; alarmId?: string },
): Promise<LogEvent[]> {
  const { session } = database
  const { after, limit, alarmId } = query
  if (alarmId !== undefined) {
    // One alarm's events are written in order: its timers are locked before each decision.
    const alarm = await alarmNamed(session, scope, { id: alarmId })
    if (alarm === undefined) return []
    return (await session.rows(sql.eventsOfAlarm, alarm.seq, after, limit)).map(eventIn)
  }
  const page = async (whole: Serial) =>
    (await session.rows(sql.eventsOfOwner, scope.tenant, scope.owner, after, whole, limit)).map(eventIn)
  const known = horizon.whole > after ? await page(horizon.whole) : []
  return isCut(known, limit) ? known : page(await horizon.advance())
}

/** Reads one alarm's newest events, in the order of the log. */
export async function newestEvents(session: Session, alarm: Serial, limit: number): Promise<LogEvent[]> {
  return (await session.rows(sql.newestEventsOfAlarm, alarm, limit)).map(eventIn).reverse()
}

/** Appends a user's event. */
export async function appendEvent({ session }: Database, scope: Scope, event: UserEvent): Promise<LogEvent> {
  const { id, type, at, subject, correlationId, data } = event
  const { tenant, owner } = scope
  const row = [id, tenant, owner, type, subject, correlationId, at, data]
  const [seq] = (await session.row(sql.appendEvent, ...row))!
  return {
    ...event,
    tenant,
    owner,
    seq: seq as Serial,
    origin: 'caught',
    alarmId: null,
    occurrenceId: null,
    key: null,
  }
}

/** The newest event at or before the horizon. */
export async function lastEvent({ session }: Database, horizon: LogHorizon): Promise<Serial> {
  const row = await session.row(sql.lastEvent, await horizon.advance(0))
  return (row?.[0] as Serial | undefined) ?? 0
}

type EventValues = [
  Serial, string, string, string, string, Origin, string | null, string | null, string | null, string | null,
  string | null, number, string,
] // biome-ignore format: a list

/** The event of a row. */
export function eventIn(row: Values): LogEvent {
  const [seq, id, tenant, owner, type, origin, alarm_id, occurrence, key, subject, correlation_id, at, data] =
    row as EventValues
  return eventOf({
    seq,
    id,
    tenant,
    owner,
    type,
    origin,
    alarm_id,
    occurrence,
    key,
    subject,
    correlation_id,
    at,
    data,
  })
}
