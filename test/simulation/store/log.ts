import {
  LAST_SERIAL,
  type ReadScope,
  type Scope,
  type Serial,
  serialOf,
  utf8Length,
} from '../../../src/alarm/index.ts'
import {
  bytesOf,
  EVENTS_KEPT,
  type FailureItem,
  type FailurePage,
  type FailureQuery,
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

/** Which part of the log to read. */
export interface LogQuery {
  readonly after: Serial
  readonly limit: number
  readonly alarmId?: string
}

/** Reads one owner's or one alarm's log after a position, oldest first. */
export function readEvents(database: SimulatedDatabase, scope: Scope, query: LogQuery): LogEvent[] {
  const { tables } = database
  if (query.alarmId === undefined) {
    const group = scopedName(scope)
    return page(database, tables.eventsOfOwner, group, query)
  }
  const alarm = seqNamed(database, scope, { id: query.alarmId })
  return alarm === undefined ? [] : page(database, tables.eventsOfAlarm, alarm, query)
}

function page(
  database: SimulatedDatabase,
  index: SimulatedDatabase['tables']['eventsOfOwner'],
  group: string | Serial,
  { after, limit }: LogQuery,
): LogEvent[] {
  const from = index.upTo(group, after)
  const page = new PageLimit(limit, LOG_BYTES_MAX)
  const events = index
    .in(group)
    .slice(from, from + limit)
    .filter(({ key }) => page.add(utf8Length(database.tables.events.get(key)!.data)))
  const last = events.at(-1)
  if (last !== undefined) database.assertWhole(last.key)
  return events.map(({ key }) => read(database, key))
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
    const isEnded = (tables.outcomes.get(alarm)?.status ?? null) !== null
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
