import { type Alarm, NO_CALENDARS, type Outcome, type Timer } from '../../alarm/index.ts'
import { errorText, WakefulError } from '../../error.ts'
import { formatInstant } from '../../time/index.ts'
import type { StoredAlarm } from '../index.ts'
import {
  type EventRow,
  eventOf,
  PORTABLE_VERSION,
  type PortableAlarm,
  type PortableCalendar,
  type PortableEvent,
  type PortableLine,
  type PortableRow,
  portableTally,
  ZONE_DATA_FACT,
} from '../index.ts'
import { type Desk, insertAlarm, insertTimer, putOutcome } from './apply.ts'
import { CALENDAR_QUERIES, calendarNamed, putCalendar } from './calendars.ts'
import { isStoreTrouble } from './failure.ts'
import * as sql from './queries.ts'
import type { Session } from './session.ts'
import { alarmAt, alarmNamed, snapshotOf } from './snapshots.ts'

/** The statements of an export: it walks each table once, in the order of its rows. */
export const EXPORT_QUERIES = {
  countAlarms: 'SELECT count(*) AS n FROM wakeful_alarms',
  countEvents: 'SELECT count(*) AS n FROM wakeful_events',
  alarms: 'SELECT seq FROM wakeful_alarms WHERE seq > ? ORDER BY seq LIMIT ?',
  events: `SELECT e.seq, e.id, e.tenant, e.owner, e.type, e.origin, a.id AS alarm_id, e.occurrence, a.key, e.subject,
    e.correlation_id, e.at, e.data FROM wakeful_events e LEFT JOIN wakeful_alarms a ON a.seq = e.alarm
    WHERE e.seq > ? ORDER BY e.seq LIMIT ?`,
} as const

const PAGE = 500

/** Writes out everything as it stood at one moment: the caller holds a read transaction. */
export function* exportLines(session: Session, now: number): Generator<PortableLine> {
  const alarms = session.get<{ n: number }>(EXPORT_QUERIES.countAlarms)!.n
  const events = session.get<{ n: number }>(EXPORT_QUERIES.countEvents)!.n
  yield { wakeful: 'export', version: PORTABLE_VERSION, exportedAt: formatInstant(now), alarms, events }
  for (const { tenant, name } of session.all<{ tenant: string; name: string }>(CALENDAR_QUERIES.all)) {
    const { version, ...calendar } = calendarNamed(session, tenant, name)!
    yield { calendar: { tenant, ...calendar } }
  }
  const written = { alarms: 0, events: 0 }
  for (const { seq } of pages<{ seq: number }>(session, EXPORT_QUERIES.alarms)) {
    const line = alarmLine(session, seq)
    if ('alarm' in line) written.alarms += 1
    yield line
  }
  for (const row of pages<EventRow>(session, EXPORT_QUERIES.events)) {
    const { seq, ...event } = eventOf(row)
    written.events += 1
    yield { event }
  }
  yield { end: true, ...written }
}

/** The alarm of a row, or what is wrong with it: one damaged row must not keep the others from being saved. */
function alarmLine(
  session: Session,
  seq: number,
): PortableAlarm | Extract<PortableLine, { damaged: unknown }> {
  try {
    const stored = alarmAt(session, seq)!
    const { timers, outcome } = snapshotOf(session, stored)
    return { alarm: withoutSeq(stored), timers, outcome }
  } catch (thrown) {
    if (isStoreTrouble(thrown)) throw thrown
    return { damaged: { row: seq, reason: errorText(thrown) } }
  }
}

function* pages<R extends { seq: number }>(session: Session, query: string): Generator<R> {
  let after = 0
  for (;;) {
    const rows = session.all<R>(query, after, PAGE)
    yield* rows
    if (rows.length < PAGE) return
    after = rows.at(-1)!.seq
  }
}

/** Its calendars are lines of their own. */
function withoutSeq({ seq, ...alarm }: StoredAlarm): Alarm {
  return { ...alarm, calendars: NO_CALENDARS }
}

/** Writes a calendar as it was exported; one of that name that is here already stays as it is. */
function importCalendar(desk: Desk, { calendar: { tenant, ...calendar } }: PortableCalendar): boolean {
  if (calendarNamed(desk.session, tenant, calendar.name) !== undefined) return false
  putCalendar(desk, tenant, calendar)
  return true
}

/** Writes a row of an export; false where it is here already, so that an import can be repeated. */
export function importRow(desk: Desk, line: PortableRow): boolean {
  if ('calendar' in line) return importCalendar(desk, line)
  return 'alarm' in line ? importAlarm(desk, line) : importEvent(desk, line)
}

/** Writes an alarm as it was exported; false where it is here already, so that an import can be repeated. */
function importAlarm(desk: Desk, line: PortableAlarm): boolean {
  const { alarm, timers, outcome } = line
  if (alarmNamed(desk.session, alarm, { id: alarm.id }) !== undefined) return false
  refuseTaken(desk.session, alarm)
  refuseUnknownCalendars(desk.session, alarm)
  reviewLater(desk.session, line)
  const stored = insertAlarm(desk, alarm, null)
  for (const timer of timers) insertTimer(desk, stored, imported(timer))
  if (outcome !== null) putOutcome(desk.session, stored, outcome satisfies Outcome)
  desk.tallies.add(alarm, portableTally(line))
  return true
}

/** A key names one alarm: importing another under it would replace what is here. */
function refuseTaken(session: Session, { id, key, idempotencyKey, ...scope }: Alarm): void {
  const taken = (what: string, value: string, by: { id: string } | undefined) => {
    if (by === undefined) return
    throw new WakefulError(
      'conflict',
      `alarm ${id} has the ${what} ${JSON.stringify(value)}, which is alarm ${by.id} here: cancel or rename one of them`,
    )
  }
  if (key !== null) taken('key', key, alarmNamed(session, scope, { key }))
  if (idempotencyKey !== null)
    taken('idempotency key', idempotencyKey, alarmNamed(session, scope, { idempotencyKey }))
}

function refuseUnknownCalendars(session: Session, { id, tenant, rule }: Alarm): void {
  const names = rule.kind === 'once' ? [] : (rule.exclude?.calendars ?? [])
  const unknown = names.find((name) => calendarNamed(session, tenant, name) === undefined)
  if (unknown === undefined) return
  throw new WakefulError(
    'invalid_request',
    `alarm ${id} names the calendar ${unknown}, which is neither in the export before it nor here: put it first`,
  )
}

/** It was resolved by the calendars and the zone data of another store: whoever runs the clock resolves it again. */
function reviewLater(session: Session, { alarm, timers }: PortableAlarm): void {
  const names = alarm.rule.kind === 'once' ? undefined : alarm.rule.exclude?.calendars
  if (names !== undefined) session.run(CALENDAR_QUERIES.unreview, alarm.tenant)
  if (timers.some(({ zoneOffset }) => zoneOffset !== null && zoneOffset !== undefined))
    session.run(CALENDAR_QUERIES.putFact, ZONE_DATA_FACT, 'imported')
}

/** What was in flight when it was exported is due here. Older exports knew neither days off nor zone offsets. */
function imported(timer: Timer): Timer {
  const { nominal = null, zoneOffset = null, floor = null } = timer
  return { ...timer, nominal, zoneOffset, floor, edited: false, report: null }
}

/** Writes an event as it was exported; false where it is here already. */
function importEvent(desk: Desk, { event }: PortableEvent): boolean {
  const { session } = desk
  const alarm = event.alarmId === null ? null : alarmNamed(session, event, { id: event.alarmId })
  if (alarm === undefined) {
    throw new WakefulError(
      'invalid_request',
      `event ${event.id} is of alarm ${event.alarmId}, which is neither in the export before it nor here`,
    )
  }
  const known =
    alarm === null
      ? session.get(sql.ownEventById, event.id)
      : session.get(sql.eventOfAlarmById, alarm.seq, event.id)
  if (known !== undefined) return false
  const occurrence = event.occurrenceId === null ? null : event.occurrenceId.slice(event.alarmId!.length + 1)
  const { id, tenant, owner, type, origin, subject, correlationId, at, data } = event
  session.run(
    sql.insertEvent,
    id,
    tenant,
    owner,
    type,
    origin,
    alarm?.seq ?? null,
    occurrence,
    subject,
    correlationId,
    at,
    data,
  )
  return true
}
