import type { Scope, Serial } from '../../../alarm/index.ts'
import { eventOf, isCut, type LogEvent, type UserEvent } from '../../index.ts'
import type { Session } from '../connection/index.ts'
import { seqNamed } from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import type { LogHorizon } from './log-horizon.ts'

/** Reads the log after a position, oldest first: one owner's up to the horizon, or one alarm's. */
export async function readEvents(
  session: Session,
  horizon: LogHorizon,
  scope: Scope,
  query: { after: Serial; limit: number; alarmId?: string },
): Promise<LogEvent[]> {
  const { after, limit, alarmId } = query
  if (alarmId !== undefined) {
    // One alarm's events are written in order: its timers are locked before each decision.
    const seq = await seqNamed(session, scope, { id: alarmId })
    return seq === undefined ? [] : (await session.rows(sql.eventsOfAlarm, seq, after, limit)).map(eventOf)
  }
  const page = async (whole: Serial) =>
    (await session.rows(sql.eventsOfOwner, scope.tenant, scope.owner, after, whole, limit)).map(eventOf)
  const known = horizon.whole > after ? await page(horizon.whole) : []
  return isCut(known, limit) ? known : page(await horizon.advance())
}

/** Reads one alarm's newest events, in the order of the log. */
export async function newestEvents(session: Session, alarm: Serial, limit: number): Promise<LogEvent[]> {
  return (await session.rows(sql.newestEventsOfAlarm, alarm, limit)).map(eventOf).reverse()
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
