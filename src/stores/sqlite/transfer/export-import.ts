import { type Alarm, calendarNames } from '../../../alarm/index.ts'
import { WakefulError } from '../../../error.ts'
import {
  documentOf,
  eventOf,
  hasEnded,
  isZoned,
  nameConflict,
  occurrenceIn,
  type PortableAlarm,
  type PortableEvent,
  type PortableLine,
  type PortableRow,
  pagesOf,
  portableAlarm,
  portableDamage,
  portableDocument,
  portableEvent,
  portableExport,
  portableTally,
  SECRET_META,
  wakeOf,
  withoutKey,
  ZONE_DATA_META,
} from '../../index.ts'
import { isStoreError, type Session } from '../connection/index.ts'
import { DOCUMENT_QUERIES, INBOX_QUERIES, insertWake, LOG_QUERIES, putDocument } from '../reads/index.ts'
import {
  alarmAt,
  alarmNamed,
  CALENDAR_QUERIES,
  calendarNamed,
  putCalendar,
  putMeta,
  type RowWrites,
  snapshotOf,
} from '../rows/index.ts'
import * as sql from '../sql/index.ts'

/** The statements of an export, which reads each table once in row order. */
export const EXPORT_QUERIES = {
  countAlarms: 'SELECT count(*) AS n FROM wakeful_alarms',
  countEvents: 'SELECT count(*) AS n FROM wakeful_events',
  alarms: 'SELECT seq FROM wakeful_alarms WHERE seq > ? ORDER BY seq LIMIT ?',
  formerKeys: 'SELECT idempotency_key AS key FROM wakeful_idempotency_keys WHERE alarm = ?',
} as const

/** Exports everything; the caller's read transaction makes it one consistent state. */
export function exportLines(session: Session, now: number): AsyncGenerator<PortableLine> {
  const alarms = session.get<{ n: number }>(EXPORT_QUERIES.countAlarms)!.n
  const events = session.get<{ n: number }>(EXPORT_QUERIES.countEvents)!.n
  const secret = session.get<{ value: string }>(CALENDAR_QUERIES.meta, SECRET_META)?.value ?? null
  return portableExport(now, { alarms, events, secret }, lines(session))
}

async function* lines(session: Session): AsyncGenerator<PortableLine> {
  const pages = (query: string) => pagesOf((after, limit) => session.values(query, after, limit))
  for (const { tenant, name } of session.all<{ tenant: string; name: string }>(CALENDAR_QUERIES.all)) {
    const { version, ...calendar } = calendarNamed(session, tenant, name)!
    yield { calendar: { tenant, ...calendar } }
  }
  for (const row of session.values(DOCUMENT_QUERIES.all)) yield portableDocument(documentOf(row))
  for await (const rows of pages(EXPORT_QUERIES.alarms))
    for (const [seq] of rows) yield alarmLine(session, seq as number)
  for await (const rows of pages(LOG_QUERIES.everything))
    for (const row of rows) yield portableEvent(eventOf(row))
  for await (const rows of pages(INBOX_QUERIES.all)) for (const row of rows) yield { wake: wakeOf(row) }
}

/** The line of an alarm, or of the damage of its row. */
function alarmLine(session: Session, seq: number): PortableLine {
  try {
    const keys = session.all<{ key: string }>(EXPORT_QUERIES.formerKeys, seq).map(({ key }) => key)
    return portableAlarm(snapshotOf(session, alarmAt(session, seq)!), keys)
  } catch (thrown) {
    if (isStoreError(thrown)) throw thrown
    return portableDamage(seq, thrown)
  }
}

/** Writes a line of an export; false if its row exists, so that an import can be repeated. */
export function importRow(write: RowWrites, line: PortableRow): boolean {
  if ('calendar' in line) {
    const { tenant, ...calendar } = line.calendar
    if (calendarNamed(write.session, tenant, calendar.name) !== undefined) return false
    putCalendar(write, tenant, calendar)
    return true
  }
  if ('document' in line) {
    const { updatedAt, ...document } = line.document
    // Version 0: an existing document with that name stays.
    return putDocument(write.session, document, updatedAt, 0) !== null
  }
  if ('wake' in line) return insertWake(write.session, line.wake)
  return 'alarm' in line ? importAlarm(write, line) : importEvent(write, line)
}

/** Writes an alarm; false if it exists. */
function importAlarm(write: RowWrites, exported: PortableAlarm): boolean {
  const { session } = write
  if (alarmNamed(session, exported.alarm, { id: exported.alarm.id }) !== undefined) return false
  refuseKnownIdempotencyKeys(session, exported)
  const line = withPossibleKey(session, exported)
  const { alarm, timers, outcome, formerKeys = [] } = line
  refuseUnknownCalendars(session, alarm)
  recomputeLater(session, line)
  const stored = write.insertAlarm(alarm, null)
  for (const timer of timers) write.addTimer(stored, timer)
  if (outcome !== null) write.putOutcome(stored, outcome)
  for (const key of formerKeys)
    session.run(sql.insertReplacedIdempotencyKey, alarm.tenant, alarm.owner, key, stored.seq)
  write.tallies.add(alarm, portableTally(line))
  return true
}

function refuseKnownIdempotencyKeys(session: Session, { alarm, formerKeys = [] }: PortableAlarm): void {
  const { idempotencyKey } = alarm
  for (const each of idempotencyKey === null ? formerKeys : [idempotencyKey, ...formerKeys]) {
    const by = alarmNamed(session, alarm, { idempotencyKey: each })
    if (by !== undefined) throw nameConflict(alarm, 'idempotency key', each, by.id)
  }
}

/**
 * The alarm with its key, if it can have it. A live alarm keeps its key; an ended one loses it, in the store or in the
 * export. Two live alarms with one key are refused.
 */
function withPossibleKey(session: Session, line: PortableAlarm): PortableAlarm {
  const { key } = line.alarm
  const holder = key === null ? undefined : alarmNamed(session, line.alarm, { key })
  if (holder === undefined) return line
  if (hasEnded(line)) return withoutKey(line)
  if (!hasEnded(snapshotOf(session, holder))) throw nameConflict(line.alarm, 'key', key!, holder.id)
  session.run(sql.clearKey, holder.seq)
  return line
}

function refuseUnknownCalendars(session: Session, alarm: Alarm): void {
  const unknown = calendarNames(alarm).find((name) => !calendarNamed(session, alarm.tenant, name))
  if (unknown !== undefined)
    throw new WakefulError('import.calendar_missing', { alarm: alarm.id, name: unknown })
}

/** Its instants were computed with another store's calendars and zone data, so the engine computes them again. */
function recomputeLater(session: Session, line: PortableAlarm): void {
  if (calendarNames(line.alarm).length > 0) session.run(CALENDAR_QUERIES.unmarkRecomputed, line.alarm.tenant)
  if (isZoned(line)) putMeta(session, ZONE_DATA_META, 'imported')
}

/** Writes an event; false if it exists. */
function importEvent(write: RowWrites, { event }: PortableEvent): boolean {
  const { session } = write
  const alarm = event.alarmId === null ? null : alarmNamed(session, event, { id: event.alarmId })
  if (alarm === undefined)
    throw new WakefulError('import.alarm_missing', { event: event.id, alarm: event.alarmId })
  const known =
    alarm === null
      ? session.get(sql.appendedEventById, event.id)
      : session.get(sql.eventOfAlarmById, alarm.seq, event.id)
  if (known !== undefined) return false
  const { id, tenant, owner, type, origin, subject, correlationId, at, data } = event
  const names = [id, tenant, owner, type, origin, alarm?.seq ?? null, occurrenceIn(event), subject]
  session.run(sql.insertEvent, ...names, correlationId, at, data)
  return true
}
