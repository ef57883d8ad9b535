import { type Alarm, bySerial, type Context, calendarNames, type Serial } from '../../../alarm/index.ts'
import { WakefulError } from '../../../error.ts'
import {
  alarmValues,
  hasEnded,
  isZoned,
  kindOf,
  nameConflict,
  occurrenceIn,
  type PortableAlarm,
  type PortableCalendar,
  type PortableDocument,
  type PortableEvent,
  type PortableRow,
  type PortableWake,
  portableEventTally,
  portableTally,
  wakeValues,
  withoutKey,
  ZONE_DATA_META,
} from '../../index.ts'
import { CALENDARS_NOTICE } from '../../sharded/index.ts'
import { columns, isDuplicate, type Session } from '../connection/index.ts'
import { INBOX_QUERIES, putDocument } from '../reads/index.ts'
import {
  calendarCacheOf,
  lockSnapshots,
  putCalendar,
  type RunInTransaction,
  seqsNamed,
  snapshotIn,
  type WriteBatch,
} from '../rows/index.ts'
import * as sql from '../sql/index.ts'

export const IMPORT_QUERIES = {
  /** One import at a time: two of the same file skip what the other has written. */
  lock: `SELECT pg_advisory_xact_lock(7420003, hashtext('wakeful.alarms'))::text`,
  knownAlarms: 'SELECT id, tenant, owner FROM wakeful.alarms WHERE id = ANY($1::text[])',
  alarmIds: 'SELECT seq, id FROM wakeful.alarms WHERE seq = ANY($1::bigint[])',
  recurring: `SELECT seq FROM wakeful.alarms WHERE seq = ANY($1::bigint[]) AND kind <> 'once'`,
  knownOwnEvents: 'SELECT id FROM wakeful.events WHERE alarm IS NULL AND id = ANY($1::text[])',
  knownEvents: `SELECT e.alarm, e.id FROM wakeful.events e WHERE e.alarm = ANY($1::bigint[])
    AND (e.alarm, e.id) IN (SELECT * FROM unnest($2::bigint[], $3::text[]))`,
  releaseKeys: 'UPDATE wakeful.alarms SET key = NULL WHERE seq = ANY($1::bigint[])',
  unmarkRecomputed: 'UPDATE wakeful.calendars SET reviewed_version = 0 WHERE tenant = ANY($1::text[])',
} as const

const ATTEMPTS_MAX = 3

/** Writes a batch of an export's lines, all or none; returns how many were new. */
export async function importBatch(
  inTransaction: RunInTransaction,
  lines: readonly PortableRow[],
  context: Context,
): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction((batch) => importRows(batch, lines, context))
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
    const kind = kindOf(lines[from]!)!
    const end = lines.findIndex((line, index) => index > from && kindOf(line) !== kind)
    const group = lines.slice(from, end === -1 ? lines.length : end)
    // `never`: TypeScript does not see that all lines of the group are of this kind.
    written += await IMPORTS[kind](batch, group as never, context)
    await batch.flush()
    from += group.length
  }
  return written
}

/** How each kind of lines is written; returns the number of new rows. */
const IMPORTS = {
  calendar: importCalendars,
  document: importDocuments,
  alarm: importAlarms,
  event: importEvents,
  wake: importWakes,
} as const

/** Writes documents as they were exported; an existing one of the same name stays. */
async function importDocuments({ session }: WriteBatch, lines: readonly PortableDocument[]): Promise<number> {
  let written = 0
  for (const line of lines) {
    const { updatedAt, ...document } = line.document
    if ((await putDocument(session, document, updatedAt, 0)) !== null) written += 1
  }
  return written
}

/** Writes wakes as they were exported. All are available here, even if they were fetched in the other store. */
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
  for (const line of lines) {
    const { tenant, ...calendar } = line.calendar
    const [known] = await calendarCacheOf(session).named(session, [{ tenant, name: calendar.name }])
    if (known !== undefined) continue
    await putCalendar(session, tenant, calendar, context)
    written += 1
  }
  if (written > 0) batch.notify(CALENDARS_NOTICE)
  return written
}

async function importAlarms(batch: WriteBatch, alarms: readonly PortableAlarm[]): Promise<number> {
  const { session } = batch
  const unknown = await unknownAlarms(session, alarms)
  if (unknown.length === 0) return 0
  await refuseConflicts(session, unknown)
  const lines = await resolveKeys(batch, unknown)
  await refuseUnknownCalendars(session, lines)
  recomputeLater(session, lines)
  const values = lines.map(({ alarm }) => alarmValues(alarm))
  const rows = await session.rows(sql.importAlarms, ...columns(values))
  const seqOf = new Map(rows as [string, Serial][])
  const kept: [string, string, string, Serial][] = []
  for (const line of lines) {
    const { alarm, timers, outcome, formerKeys = [] } = line
    const stored = { ...alarm, seq: seqOf.get(alarm.id)! }
    for (const timer of timers) batch.addTimer(stored, timer)
    if (outcome !== null) batch.putOutcome(stored, outcome)
    for (const key of formerKeys) kept.push([alarm.tenant, alarm.owner, key, stored.seq])
    batch.tallies.created(alarm)
    batch.tallies.add(alarm, portableTally(line))
  }
  if (kept.length > 0) session.send(sql.keepIdempotencyKeys, ...columns(kept))
  batch.insertedRows += lines.length
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

/** A key or idempotency key of an imported alarm, which no other alarm may have. */
interface UniqueName {
  readonly alarm: Alarm
  readonly what: 'key' | 'idempotency key'
  readonly value: string
}

async function refuseConflicts(session: Session, lines: readonly PortableAlarm[]): Promise<void> {
  const names = lines.flatMap(uniqueNamesOf)
  const byName = new Map<string, Alarm>()
  for (const { alarm, what, value } of names) {
    const name = JSON.stringify([what, alarm.tenant, alarm.owner, value])
    const other = byName.get(name)
    if (other !== undefined) throw nameConflict(alarm, what, value, other.id)
    byName.set(name, alarm)
  }
  const idempotencyKeys = names.filter(({ what }) => what === 'idempotency key')
  await refuseKnown(session, sql.seqsOfIdempotencyKeys, idempotencyKeys)
  await refuseKnown(session, sql.seqsOfKeptKeys, idempotencyKeys)
}

function uniqueNamesOf({ alarm, formerKeys = [] }: PortableAlarm): UniqueName[] {
  const { key, idempotencyKey } = alarm
  const keys = [...new Set(idempotencyKey === null ? formerKeys : [idempotencyKey, ...formerKeys])]
  return [
    ...(key === null ? [] : [{ alarm, what: 'key', value: key } as const]),
    ...keys.map((value) => ({ alarm, what: 'idempotency key', value }) as const),
  ]
}

async function refuseKnown(
  session: Session,
  query: string,
  uniqueNames: readonly UniqueName[],
): Promise<void> {
  const names = uniqueNames.map(({ alarm: { tenant, owner }, value }) => ({ tenant, owner, name: value }))
  const [known] = await seqsNamed(session, query, names)
  if (known === undefined) return
  const [place, seq] = known
  const [, id] = (await session.row(IMPORT_QUERIES.alarmIds, [seq])) as [Serial, string]
  const { alarm, what, value } = uniqueNames[place]!
  throw nameConflict(alarm, what, value, id)
}

/**
 * Returns the alarms with the keys that they can have here. If two alarms have the same key, the one that has ended loses
 * it, here or in the export. Two that are still to fire are refused.
 */
async function resolveKeys(batch: WriteBatch, lines: readonly PortableAlarm[]): Promise<PortableAlarm[]> {
  const { session } = batch
  const names = lines.map(({ alarm: { tenant, owner, key } }) => ({ tenant, owner, name: key }))
  const holders = await seqsNamed(session, sql.seqsOfKeys, names)
  if (holders.size === 0) return [...lines]
  const snapshots = await lockSnapshots(session, [...holders.values()].sort(bySerial), batch.clockOverride)
  const released: Serial[] = []
  const resolved = lines.map((line, place) => {
    const seq = holders.get(place)
    const holder = seq === undefined ? undefined : snapshotIn(snapshots, seq)
    if (holder === undefined) return line
    if (hasEnded(line)) return withoutKey(line)
    if (!hasEnded(holder)) throw nameConflict(line.alarm, 'key', line.alarm.key!, holder.alarm.id)
    released.push(holder.alarm.seq)
    return line
  })
  if (released.length > 0) session.send(IMPORT_QUERIES.releaseKeys, released)
  return resolved
}

async function refuseUnknownCalendars(session: Session, lines: readonly PortableAlarm[]): Promise<void> {
  const named = lines.flatMap(({ alarm: { id, tenant, ...alarm } }) =>
    calendarNames(alarm).map((name) => ({ tenant, name, alarm: id })),
  )
  if (named.length === 0) return
  const found = await calendarCacheOf(session).named(session, named)
  const missing = named[found.indexOf(undefined)]
  if (missing === undefined) return
  throw new WakefulError('import.calendar_missing', { alarm: missing.alarm, name: missing.name })
}

/** Has the upkeep compute the instants of these alarms again: the other store may have had other calendars and other zone data. */
function recomputeLater(session: Session, lines: readonly PortableAlarm[]): void {
  const naming = lines.filter(({ alarm }) => calendarNames(alarm).length > 0)
  const tenants = [...new Set(naming.map(({ alarm }) => alarm.tenant))]
  if (tenants.length > 0) session.send(IMPORT_QUERIES.unmarkRecomputed, tenants)
  if (lines.some(isZoned)) session.send(sql.putMeta, ZONE_DATA_META, 'imported')
}

async function importEvents(batch: WriteBatch, lines: readonly PortableEvent[]): Promise<number> {
  const names = lines.map(({ event: { tenant, owner, alarmId } }) => ({ tenant, owner, name: alarmId }))
  const seqOf = await seqsNamed(batch.session, sql.seqsOfIds, names)
  const events = lines.map(({ event }, place): EventWithAlarm => {
    const alarm = seqOf.get(place)
    if (event.alarmId !== null && alarm === undefined)
      throw new WakefulError('import.alarm_missing', { event: event.id, alarm: event.alarmId })
    return { event, alarm: alarm ?? null }
  })
  const known = await knownEvents(batch.session, events)
  const failed = events.flatMap(({ event, alarm }) => (event.failure ? (alarm ?? []) : []))
  const recurring = new Set((await batch.session.rows(IMPORT_QUERIES.recurring, failed)).map(([seq]) => seq))
  let written = 0
  for (const { event, alarm } of events) {
    const name = eventName(alarm, event.id)
    if (known.has(name)) continue
    known.add(name)
    const { id, tenant, owner, type, origin, subject, correlationId, failure = null, at, data } = event
    const about = [id, tenant, owner, type, origin, alarm, occurrenceIn(event), subject, correlationId]
    batch.addEventRow([...about, failure, at, data])
    const tally = portableEventTally(event, alarm !== null && recurring.has(alarm))
    if (tally !== null) batch.tallies.add(event, tally)
    written += 1
  }
  return written
}

/** An event with the row of its alarm; null if it concerns none. */
interface EventWithAlarm {
  readonly event: PortableEvent['event']
  readonly alarm: Serial | null
}

async function knownEvents(session: Session, events: readonly EventWithAlarm[]): Promise<Set<string>> {
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
