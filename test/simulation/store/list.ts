import { bySerial, isSeen, LAST_SERIAL, type ReadScope, type Serial } from '../../../src/alarm/index.ts'
import {
  bytesOf,
  isListedAt,
  type ListPosition,
  type ListQuery,
  matches,
  type Page,
  PageLimit,
  type Stats,
  type StoredSnapshot,
  statsOf,
  type TenantStats,
  type TenantsQuery,
} from '../../../src/stores/index.ts'
import type { SimulatedDatabase } from './database.ts'
import { snapshotAt } from './snapshots.ts'
import { scopedName } from './tables.ts'

/** Reads a page of alarms that match the query. */
export function list(database: SimulatedDatabase, scope: ReadScope, query: ListQuery): Page {
  return query.order === 'due' ? listDue(database, scope, query) : listNewest(database, scope, query)
}

function listNewest(database: SimulatedDatabase, scope: ReadScope, query: ListQuery): Page {
  const items: StoredSnapshot[] = []
  const page = new PageLimit(query.limit)
  const below = query.after?.row ?? LAST_SERIAL
  for (const key of alarmsOf(database, scope).toReversed()) {
    const snapshot = snapshotAt(database, key)!
    if (key >= below || !matches(snapshot, query)) continue
    if (!page.add(bytesOf(snapshot))) return { items, next: { row: items.at(-1)!.alarm.seq } }
    items.push(snapshot)
  }
  return { items, next: null }
}

function listDue(database: SimulatedDatabase, scope: ReadScope, query: ListQuery): Page {
  const { tables } = database
  const items: StoredSnapshot[] = []
  const page = new PageLimit(query.limit)
  let place: ListPosition | null = query.after ?? null
  for (const { at, key } of upcomingOf(database, scope)) {
    if (place !== null && (at - place.at! || bySerial(key, place.row)) <= 0) continue
    const snapshot = snapshotAt(database, tables.timers.get(key)!.alarm)!
    if (!isListedAt(snapshot, { timer: key }) || !matches(snapshot, query)) continue
    if (!page.add(bytesOf(snapshot))) return { items, next: place }
    items.push(snapshot)
    place = { row: key, at }
  }
  return { items, next: null }
}

/** The row numbers of alarms, oldest first. */
function alarmsOf({ tables }: SimulatedDatabase, scope: ReadScope): Serial[] {
  if (scope.owner !== null) return tables.alarmsOfOwner.in(scopedName(scope)).map(({ key }) => key)
  const all = tables.alarms.values().filter((alarm) => isSeen(scope, alarm))
  return all.map(({ seq }) => seq).sort(bySerial)
}

/** Waiting timers by wake time. */
function upcomingOf({ tables }: SimulatedDatabase, scope: ReadScope): readonly { at: number; key: Serial }[] {
  if (scope.owner !== null) return tables.upcoming.in(scopedName(scope))
  const waiting = tables.timers.values().filter((row) => isSeen(scope, row) && row.timer.wakeAt !== null)
  const all = waiting.map(({ timer }) => ({ at: timer.wakeAt!, key: timer.id }))
  return all.sort((a, b) => a.at - b.at || bySerial(a.key, b.key))
}

/** Reads the statistics of a scope. */
export function readStats(database: SimulatedDatabase, scope: ReadScope): Stats {
  const all = database.talliesIn(scope).map(({ sums }) => sums)
  return statsOf(all.reduce((a, b) => a.map((sum, index) => sum + b[index]!), database.noTally()))
}

/** Reads the next tenants that have anything. */
export function readTenants(
  database: SimulatedDatabase,
  { after, limit, documentKinds }: TenantsQuery,
): TenantStats[] {
  const { calendars, documents, events } = database.tables
  const named = [
    ...database.talliesIn({ tenant: null, owner: null }).map(({ scope }) => scope),
    ...calendars.values(),
    ...events.values(),
    ...documents.values().filter(({ kind }) => documentKinds.includes(kind)),
  ]
  const tenants = [...new Set(named.map(({ tenant }) => tenant))].filter(
    (name) => name > after && name !== '*',
  )
  return tenants
    .sort()
    .slice(0, limit)
    .map((tenant) => ({ tenant, stats: readStats(database, { tenant, owner: null }) }))
}

/** Reads how many alarms of a tenant are still to fire. */
export function readPending(database: SimulatedDatabase, tenant: string): number {
  return database.talliesIn({ tenant, owner: null }).reduce((sum, { sums }) => sum + sums[1]!, 0)
}
