import {
  bySerial,
  LAST_SERIAL,
  type ReadScope,
  type Scope,
  type Serial,
  serialOf,
  utf8Length,
} from '../../../src/alarm/index.ts'
import {
  bytesOf,
  EVENTS_FILTERED_MAX,
  EVENTS_KEPT,
  type EventFilter,
  type EventPage,
  type EventQuery,
  type FailureItem,
  type FailurePage,
  type FailureQuery,
  isCut,
  isWanted,
  LOG_BYTES_MAX,
  type LogEvent,
  PageLimit,
  type Pruned,
  prunedEventsMeta,
  type UserEvent,
} from '../../../src/stores/index.ts'
import type { SimulatedDatabase } from './database.ts'
import { pruneWakes } from './inbox.ts'
import { seqNamed, snapshotAt } from './snapshots.ts'
import { ALL, type LoggedRow, scopedName } from './tables.ts'

/** Reads a page of the log after a position, oldest first. */
export function readEvents(database: SimulatedDatabase, scope: ReadScope, query: EventQuery): EventPage {
  const { tables } = database
  const { after, alarmId } = query
  if (alarmId !== undefined) {
    const seq = seqNamed(database, scope, { id: alarmId })
    if (seq === undefined) return { events: [], next: after, more: false }
    return page(database, tables.eventsOfAlarm, seq, query)
  }
  if (scope.tenant === null) return page(database, tables.allEvents, ALL, query)
  if (scope.owner === null) return page(database, tables.eventsOfTenant, scope.tenant, query)
  return page(database, tables.eventsOfOwner, scopedName(scope), query)
}

function page(
  database: SimulatedDatabase,
  index: SimulatedDatabase['tables']['eventsOfOwner'],
  group: string | Serial,
  { after, limit, filter, alarmId }: EventQuery,
): EventPage {
  const from = index.upTo(group, after)
  const below = index.in(group).slice(from, filter === undefined ? from + limit : from + EVENTS_FILTERED_MAX)
  const page = new PageLimit(limit, LOG_BYTES_MAX)
  const found = below
    .map(({ key }) => database.tables.events.get(key)!)
    .filter((event) => filter === undefined || isMatch(event, filter))
    .filter(({ data }) => page.add(utf8Length(data)))
  const last = found.at(-1)?.seq ?? after
  const events = found.map(({ seq }) => read(database, seq))
  const isFull = isCut(events, limit)
  const isLong = filter !== undefined && below.length === EVENTS_FILTERED_MAX
  const end = isLong ? below.at(-1)!.key : alarmId === undefined ? (lastEvent(database)?.seq ?? 0) : last
  const next = isFull || filter === undefined || end < after ? last : end
  if (next > after) database.assertWhole(next)
  return { events, next, more: isFull || isLong }
}

function isMatch(event: LoggedRow, filter: EventFilter): boolean {
  const { types, origin, subject, correlationId, since, until } = filter
  const isOfType = (type: string) =>
    event.type === type || (type.endsWith('.') && event.type.startsWith(type))
  if (types !== undefined && !types.some(isOfType)) return false
  if (origin !== undefined && event.origin !== origin) return false
  if (subject !== undefined && event.subject !== subject) return false
  if (correlationId !== undefined && event.correlationId !== correlationId) return false
  return event.at >= (since ?? -Infinity) && event.at < (until ?? Infinity)
}

/** Reads one alarm's newest events, oldest first. */
export function newestEvents(database: SimulatedDatabase, alarm: Serial, limit: number): LogEvent[] {
  if (limit === 0) return []
  return database.tables.eventsOfAlarm
    .in(alarm)
    .slice(-limit)
    .map(({ key }) => read(database, key))
}

function read({ tables }: SimulatedDatabase, seq: Serial): LogEvent {
  const { alarm, occurrence, ...row } = tables.events.get(seq)!
  const about = alarm === null ? undefined : tables.alarms.get(alarm)
  const occurrenceId = about === undefined || occurrence === null ? null : `${about.id}-${occurrence}`
  return { ...row, alarmId: about?.id ?? null, occurrenceId, key: about?.key ?? null }
}

/** Reads a page of failures, newest first. */
export function readFailures(
  database: SimulatedDatabase,
  { tenant, owner }: ReadScope,
  query: FailureQuery,
): FailurePage {
  const { events } = database.tables
  const below = query.after ?? LAST_SERIAL
  const page = new PageLimit(query.limit)
  const items: FailureItem[] = []
  for (const { key } of database.tables.allEvents.in(ALL).toReversed()) {
    const { failure, alarm, ...row } = events.get(key)!
    if (failure === null || alarm === null || key >= below) continue
    if ((tenant !== null && row.tenant !== tenant) || (owner !== null && row.owner !== owner)) continue
    const { seq, occurrence, type, at, data } = row
    const item = {
      record: { seq, failure, occurrence, type, at, data },
      snapshot: snapshotAt(database, alarm)!,
    }
    if (!isWanted(item, query)) continue
    if (!page.add(bytesOf(item.snapshot))) return { items, next: items.at(-1)!.record.seq }
    items.push(item)
  }
  return { items, next: null }
}

/** The newest position in the log. */
export function lastEvent({ tables }: SimulatedDatabase): LoggedRow | undefined {
  const last = tables.allEvents.in(ALL).at(-1)
  return last && tables.events.get(last.key)
}

/** Appends an event that a user recorded. */
export function appendEvent(database: SimulatedDatabase, scope: Scope, event: UserEvent): LogEvent {
  const seq = database.next('events')
  const { tenant, owner } = scope
  const none = { alarm: null, occurrence: null, failure: null }
  const row = { ...event, seq, tenant, owner, origin: 'caught', ...none } as const
  database.tables.events.put(seq, row)
  return read(database, seq)
}

/** How far pruning has scanned the log. Events before it are kept, or belong to alarms that are met again. */
const PRUNED_TO = 'pruned_to'

/** Deletes ended alarms with their events, the older events of others, and unclaimed wakes. Continues where it stopped. */
export function prune(database: SimulatedDatabase, before: number, limit: number): Pruned {
  const { tables } = database
  const place = serialOf(tables.facts.get(PRUNED_TO) ?? '0')
  const from = tables.allEvents.upTo(ALL, place)
  const rows = tables.allEvents
    .in(ALL)
    .slice(from, from + limit)
    .map(({ key }) => tables.events.get(key)!)
  const firstRecent = rows.findIndex(({ at }) => at >= before)
  const old = firstRecent === -1 ? rows : rows.slice(0, firstRecent)
  const end = old.at(-1)?.seq ?? place
  let [alarms, events] = [0, 0]
  for (const alarm of new Set(old.flatMap((event) => event.alarm ?? []))) {
    const seqs = tables.eventsOfAlarm.in(alarm).map(({ key }) => key)
    const isDeclared = (tables.alarms.get(alarm)?.declaredBy ?? null) !== null
    const isEnded = !isDeclared && (tables.outcomes.get(alarm)?.status ?? null) !== null
    if (isEnded && seqs.at(-1)! <= end) {
      removeEvents(database, seqs)
      removeAlarm(database, alarm)
      alarms += 1
      continue
    }
    const trimmed = seqs.slice(0, -EVENTS_KEPT).filter((seq) => seq <= end)
    removeEvents(database, trimmed)
    events += trimmed.length
  }
  if (end > place) tables.facts.put(PRUNED_TO, String(end))
  const wakes = pruneWakes(database, before, limit)
  return { alarms, events, wakes, more: old.length === limit || wakes === limit }
}

function removeEvents({ tables }: SimulatedDatabase, seqs: readonly Serial[]): void {
  for (const seq of seqs) {
    const fact = prunedEventsMeta(tables.events.get(seq)!)
    if (serialOf(tables.facts.get(fact) ?? '0') < seq) tables.facts.put(fact, String(seq))
    tables.events.remove(seq)
  }
}

function removeAlarm({ tables }: SimulatedDatabase, seq: Serial): void {
  tables.outcomes.remove(seq)
  for (const [name, alarm] of tables.idempotencyKeys.entries())
    if (alarm === seq) tables.idempotencyKeys.remove(name)
  tables.alarms.remove(seq)
}

/** The newest event that retention has deleted of a scope. */
export function prunedTo({ tables }: SimulatedDatabase, scope: ReadScope): Serial | null {
  const prefix = prunedEventsMeta(scope)
  const isOf = (name: string) => (scope.owner === null ? name.startsWith(prefix) : name === prefix)
  const all = tables.facts.entries().flatMap(([name, value]) => (isOf(name) ? [serialOf(value)] : []))
  return [...all].sort(bySerial).at(-1) ?? null
}
