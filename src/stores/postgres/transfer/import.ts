import { type Alarm, type Context, calendarNames, type Serial } from '../../../alarm/index.ts'
import { WakefulError } from '../../../error.ts'
import {
  alarmMissing,
  alarmValues,
  calendarMissing,
  isZoned,
  nameConflict,
  occurrenceIn,
  type PortableAlarm,
  type PortableCalendar,
  type PortableDocument,
  type PortableEvent,
  type PortableRow,
  type PortableWake,
  portableTally,
  ZONE_DATA_META,
} from '../../index.ts'
import { isDuplicate, type Session } from '../connection/index.ts'
import { INBOX_QUERIES, putDocument, wakeValues } from '../reads/index.ts'
import { calendarCacheOf, columns, putCalendar, type WriteBatch } from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import { settleKeys } from './import-keys.ts'

export const IMPORT_QUERIES = {
  /** One import at a time: two of the same file skip what the other has written. */
  lock: `SELECT pg_advisory_xact_lock(7420003, hashtext('wakeful.alarms'))::text`,
  knownAlarms: 'SELECT id, tenant, owner FROM wakeful.alarms WHERE id = ANY($1::text[])',
  alarmIds: 'SELECT seq, id FROM wakeful.alarms WHERE seq = ANY($1::bigint[])',
  knownOwnEvents: 'SELECT id FROM wakeful.events WHERE alarm IS NULL AND id = ANY($1::text[])',
  knownEvents: `SELECT e.alarm, e.id FROM wakeful.events e WHERE e.alarm = ANY($1::bigint[])
    AND (e.alarm, e.id) IN (SELECT * FROM unnest($2::bigint[], $3::text[]))`,
  unreview: 'UPDATE wakeful.calendars SET reviewed_version = 0 WHERE tenant = ANY($1::text[])',
} as const

type Write = <T>(work: (batch: WriteBatch) => Promise<T>) => Promise<T>

const ATTEMPTS_MAX = 3

/** Writes a batch of an export's lines, all or none; returns how many were new. */
export async function importBatch(
  write: Write,
  lines: readonly PortableRow[],
  context: Context,
): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write((batch) => importRows(batch, lines, context))
    } catch (thrown) {
      // Another call has just set one of these keys: the next attempt finds it and names it.
      if (!isDuplicate(thrown) || attempt >= ATTEMPTS_MAX) throw thrown
    }
  }
}

/** Lines of one kind are written together, in few statements; kinds keep the order of the file. */
async function importRows(
  batch: WriteBatch,
  lines: readonly PortableRow[],
  context: Context,
): Promise<number> {
  await batch.session.rows(IMPORT_QUERIES.lock)
  let written = 0
  for (let from = 0; from < lines.length; ) {
    const kind = kindOf(lines[from]!)
    const end = lines.findIndex((line, index) => index > from && kindOf(line) !== kind)
    const run = lines.slice(from, end === -1 ? lines.length : end)
    if (kind === 'calendar') written += await importCalendars(batch, run as PortableCalendar[], context)
    else if (kind === 'document') written += await importDocuments(batch, run as PortableDocument[])
    else if (kind === 'wake') written += await importWakes(batch, run as PortableWake[])
    else if (kind === 'alarm') written += await importAlarms(batch, run as PortableAlarm[])
    else written += await importEvents(batch, run as PortableEvent[])
    await batch.flush()
    from += run.length
  }
  return written
}

function kindOf(line: PortableRow) {
  return KINDS.find((kind) => kind in line)!
}

const KINDS = ['calendar', 'document', 'alarm', 'event', 'wake'] as const

/** Writes documents as they were exported; an existing one of the same name stays. */
async function importDocuments({ session }: WriteBatch, lines: readonly PortableDocument[]): Promise<number> {
  let written = 0
  for (const { document: line } of lines) {
    const { updatedAt, ...document } = line
    if ((await putDocument(session, document, updatedAt, 0)) !== null) written += 1
  }
  return written
}

/** Writes wakes as they were exported, as available: they were handed out in another store. */
function importWakes({ session }: WriteBatch, lines: readonly PortableWake[]): Promise<number> {
  return session.run(INBOX_QUERIES.import, ...columns(lines.map(({ wake }) => wakeValues(wake))))
}

/** Writes calendars as they were exported; an existing one of the same name stays. */
async function importCalendars(
  batch: WriteBatch,
  lines: readonly PortableCalendar[],
  context: Context,
): Promise<number> {
  const { session } = batch
  let written = 0
  for (const { calendar: line } of lines) {
    const { tenant, ...calendar } = line
    const [known] = await calendarCacheOf(session).named(session, [{ tenant, name: calendar.name }])
    if (known !== undefined) continue
    await putCalendar(session, tenant, calendar, context)
    written += 1
  }
  if (written > 0) batch.notifyCalendars()
  return written
}

async function importAlarms(batch: WriteBatch, alarms: readonly PortableAlarm[]): Promise<number> {
  const { session, writes } = batch
  const unknown = await unknownAlarms(session, alarms)
  if (unknown.length === 0) return 0
  await refuseConflicts(session, unknown)
  const lines = await settleKeys(batch, unknown)
  await refuseUnknownCalendars(
    session,
    lines.map(({ alarm }) => alarm),
  )
  reviewLater(session, lines)
  const values = lines.map(({ alarm }) => alarmValues(alarm))
  const rows = await session.rows(sql.importAlarms, ...columns(values))
  const seqOf = new Map(rows as [string, Serial][])
  const kept: [string, string, string, Serial][] = []
  for (const line of lines) {
    const { alarm, timers, outcome, formerKeys = [] } = line
    const stored = { ...alarm, seq: seqOf.get(alarm.id)! }
    for (const timer of timers) writes.addTimer(stored, timer)
    if (outcome !== null) writes.putOutcome(stored, outcome)
    for (const key of formerKeys) kept.push([alarm.tenant, alarm.owner, key, stored.seq])
    writes.tallies.created(alarm)
    writes.tallies.add(alarm, portableTally(line))
  }
  if (kept.length > 0) session.send(sql.keepIdempotencyKeys, ...columns(kept))
  writes.rows += lines.length
  return lines.length
}

/** The alarms that are new here, each once. */
async function unknownAlarms(session: Session, lines: readonly PortableAlarm[]): Promise<PortableAlarm[]> {
  const byId = new Map(lines.toReversed().map((line) => [line.alarm.id, line]))
  const rows = await session.rows(IMPORT_QUERIES.knownAlarms, [...byId.keys()])
  for (const [id, tenant, owner] of rows as [string, string, string][]) {
    const { alarm } = byId.get(id)!
    if (alarm.tenant !== tenant || alarm.owner !== owner)
      throw new WakefulError('import.owner_differs', { alarm: id })
    byId.delete(id)
  }
  return lines.filter((line) => byId.get(line.alarm.id) === line)
}

/** A name of an imported alarm. */
interface Claim {
  readonly alarm: Alarm
  readonly what: 'key' | 'idempotency key'
  readonly value: string
}

async function refuseConflicts(session: Session, lines: readonly PortableAlarm[]): Promise<void> {
  const claims = lines.flatMap(claimsOf)
  const claimed = new Map<string, Alarm>()
  for (const { alarm, what, value } of claims) {
    const name = JSON.stringify([what, alarm.tenant, alarm.owner, value])
    const other = claimed.get(name)
    if (other !== undefined) throw nameConflict(alarm, what, value, other.id)
    claimed.set(name, alarm)
  }
  const once = claims.filter(({ what }) => what === 'idempotency key')
  await refuseKnown(session, sql.seqsOfIdempotencyKeys, once)
  await refuseKnown(session, sql.seqsOfKeptKeys, once)
}

function claimsOf({ alarm, formerKeys = [] }: PortableAlarm): Claim[] {
  const { key, idempotencyKey } = alarm
  const keys = [...new Set(idempotencyKey === null ? formerKeys : [idempotencyKey, ...formerKeys])]
  return [
    ...(key === null ? [] : [{ alarm, what: 'key', value: key } as const]),
    ...keys.map((value) => ({ alarm, what: 'idempotency key', value }) as const),
  ]
}

async function refuseKnown(session: Session, query: string, claims: readonly Claim[]): Promise<void> {
  if (claims.length === 0) return
  const rows = claims.map(({ alarm, value }) => [alarm.tenant, alarm.owner, value])
  const [known] = (await session.rows(query, ...columns(rows))) as [number, Serial][]
  if (known === undefined) return
  const [ordinal, seq] = known
  const [, id] = (await session.row(IMPORT_QUERIES.alarmIds, [seq])) as [Serial, string]
  const { alarm, what, value } = claims[ordinal - 1]!
  throw nameConflict(alarm, what, value, id)
}

async function refuseUnknownCalendars(session: Session, alarms: readonly Alarm[]): Promise<void> {
  const named = alarms.flatMap((alarm) => calendarNames(alarm).map((name) => ({ alarm, name })))
  if (named.length === 0) return
  const found = await calendarCacheOf(session).named(
    session,
    named.map(({ alarm, name }) => ({ tenant: alarm.tenant, name })),
  )
  const missing = named[found.indexOf(undefined)]
  if (missing !== undefined) throw calendarMissing(missing.alarm, missing.name)
}

/** They were resolved by the calendars and the zone data of another store: the next review resolves them again. */
function reviewLater(session: Session, lines: readonly PortableAlarm[]): void {
  const naming = lines.filter(({ alarm }) => calendarNames(alarm).length > 0)
  const tenants = [...new Set(naming.map(({ alarm }) => alarm.tenant))]
  if (tenants.length > 0) session.send(IMPORT_QUERIES.unreview, tenants)
  if (lines.some(isZoned)) session.send(sql.putMeta, ZONE_DATA_META, 'imported')
}

async function importEvents(batch: WriteBatch, lines: readonly PortableEvent[]): Promise<number> {
  const events = await placedEvents(
    batch.session,
    lines.map(({ event }) => event),
  )
  const known = await knownEvents(batch.session, events)
  let written = 0
  for (const { event, alarm } of events) {
    const name = eventName(alarm, event.id)
    if (known.has(name)) continue
    known.add(name)
    const { id, tenant, owner, type, origin, subject, correlationId, at, data } = event
    const names = [id, tenant, owner, type, origin, alarm, occurrenceIn(event), subject, correlationId]
    batch.writes.addEventRow([...names, at, data])
    written += 1
  }
  return written
}

/** An event with the row of its alarm; null if it concerns none. */
interface PlacedEvent {
  readonly event: PortableEvent['event']
  readonly alarm: Serial | null
}

async function placedEvents(
  session: Session,
  events: readonly PortableEvent['event'][],
): Promise<PlacedEvent[]> {
  const names = events.map(({ tenant, owner, alarmId }) => [tenant, owner, alarmId])
  const rows = (await session.rows(sql.seqsOfIds, ...columns(names))) as [number, Serial][]
  const seqOf = new Map(rows)
  return events.map((event, index) => {
    const alarm = seqOf.get(index + 1)
    if (event.alarmId !== null && alarm === undefined) throw alarmMissing(event)
    return { event, alarm: alarm ?? null }
  })
}

async function knownEvents(session: Session, events: readonly PlacedEvent[]): Promise<Set<string>> {
  const own = events.filter(({ alarm }) => alarm === null).map(({ event }) => event.id)
  const others = events.filter(({ alarm }) => alarm !== null)
  const alarms = others.map(({ alarm }) => alarm)
  const [ofNone, ofAlarms] = await Promise.all([
    session.rows(IMPORT_QUERIES.knownOwnEvents, own),
    session.rows(
      IMPORT_QUERIES.knownEvents,
      [...new Set(alarms)],
      alarms,
      others.map(({ event }) => event.id),
    ),
  ])
  return new Set([
    ...ofNone.map(([id]) => eventName(null, id as string)),
    ...ofAlarms.map(([alarm, id]) => eventName(alarm as Serial, id as string)),
  ])
}

function eventName(alarm: Serial | null, id: string): string {
  return `${alarm} ${id}`
}
