import { type Scope, type Serial, serialOf, utf8Length } from '../../../src/alarm/index.ts'
import {
  LOG_BYTES_MAX,
  type LogEvent,
  PageLimit,
  prunedEventsMeta,
  type UserEvent,
} from '../../../src/stores/index.ts'
import type { SimulatedDatabase } from './database.ts'
import { pruneWakes } from './inbox.ts'
import { seqNamed } from './snapshots.ts'
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

/** The newest position in the log. */
export function lastEvent({ tables }: SimulatedDatabase): LoggedRow | undefined {
  const last = tables.allEvents.in(ALL).at(-1)
  return last && tables.events.get(last.key)
}

/** Appends an event that a user recorded. */
export function appendEvent(database: SimulatedDatabase, scope: Scope, event: UserEvent): LogEvent {
  const seq = database.next('events')
  const { tenant, owner } = scope
  const row = { ...event, seq, tenant, owner, origin: 'caught', alarm: null, occurrence: null } as const
  database.tables.events.put(seq, row)
  return read(database, seq)
}

/** How far pruning has scanned the log. Events before it belong to live alarms or are gone. */
const PRUNED_TO = 'pruned_to'
const EVENTS_LOOKED_AT_MAX = 5_000

/** Deletes ended alarms with their events, and unclaimed wakes, oldest first. Continues where it stopped. */
export function prune(database: SimulatedDatabase, endedBefore: number, limit: number): number {
  const { tables } = database
  const place = serialOf(tables.facts.get(PRUNED_TO) ?? '0')
  const from = tables.allEvents.upTo(ALL, place)
  let [reached, pruned]: [Serial, number] = [place, 0]
  for (const { key } of tables.allEvents.in(ALL).slice(from, from + EVENTS_LOOKED_AT_MAX)) {
    const event = tables.events.get(key)
    // It was deleted with its alarm, at an earlier event of this page.
    if (event !== undefined && (event.at >= endedBefore || pruned >= limit)) break
    reached = key
    if (event === undefined || !isPrunable(database, event.alarm, endedBefore)) continue
    pruneAlarm(database, event.alarm!)
    pruned += 1
  }
  if (reached > place) tables.facts.put(PRUNED_TO, String(reached))
  return pruned + pruneWakes(database, endedBefore, limit - pruned)
}

/** An ended alarm is met again at its last event, which decides whether it is old enough. */
function isPrunable({ tables }: SimulatedDatabase, alarm: Serial | null, endedBefore: number): boolean {
  if (alarm === null || (tables.outcomes.get(alarm)?.status ?? null) === null) return false
  return tables.events.get(tables.eventsOfAlarm.in(alarm).at(-1)!.key)!.at < endedBefore
}

function pruneAlarm({ tables }: SimulatedDatabase, seq: Serial): void {
  const newest = tables.events.get(tables.eventsOfAlarm.in(seq).at(-1)!.key)!
  const fact = prunedEventsMeta(newest)
  if (serialOf(tables.facts.get(fact) ?? '0') < newest.seq) tables.facts.put(fact, String(newest.seq))
  for (const { key } of [...tables.eventsOfAlarm.in(seq)]) tables.events.remove(key)
  tables.outcomes.remove(seq)
  for (const [name, alarm] of tables.idempotencyKeys.entries())
    if (alarm === seq) tables.idempotencyKeys.remove(name)
  tables.alarms.remove(seq)
}
