import { LAST_SERIAL, type Scope } from '../../../src/alarm/index.ts'
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
} from '../../../src/stores/index.ts'
import type { SimulatedDatabase } from './database.ts'
import { snapshotAt } from './snapshots.ts'
import { scopedName } from './tables.ts'

/** Reads a page of alarms that match the query. */
export function list(database: SimulatedDatabase, scope: Scope, query: ListQuery): Page {
  return query.order === 'due' ? listDue(database, scope, query) : listNewest(database, scope, query)
}

function listNewest(database: SimulatedDatabase, scope: Scope, query: ListQuery): Page {
  const items: StoredSnapshot[] = []
  const page = new PageLimit(query.limit)
  const below = query.after?.row ?? LAST_SERIAL
  for (const { key } of database.tables.alarmsOfOwner.in(scopedName(scope)).toReversed()) {
    const snapshot = snapshotAt(database, key)!
    if (key >= below || !matches(snapshot, query)) continue
    if (!page.add(bytesOf(snapshot))) return { items, next: { row: items.at(-1)!.alarm.seq } }
    items.push(snapshot)
  }
  return { items, next: null }
}

function listDue(database: SimulatedDatabase, scope: Scope, query: ListQuery): Page {
  const { tables } = database
  const group = scopedName(scope)
  const items: StoredSnapshot[] = []
  const page = new PageLimit(query.limit)
  let place: ListPosition | null = query.after ?? null
  const from = place === null ? 0 : tables.upcoming.upTo(group, place.at ?? 0, place.row)
  for (const { at, key } of tables.upcoming.in(group).slice(from)) {
    const snapshot = snapshotAt(database, tables.timers.get(key)!.alarm)!
    if (!isListedAt(snapshot, { timer: key }) || !matches(snapshot, query)) continue
    if (!page.add(bytesOf(snapshot))) return { items, next: place }
    items.push(snapshot)
    place = { row: key, at }
  }
  return { items, next: null }
}

/** Reads one owner's statistics. */
export function readStats(database: SimulatedDatabase, scope: Scope): Stats {
  const sums = database.tallyOf(scope)
  const [total, pending, fired, completed, failed, cancelled, timedOut, duration, measured] = sums as Sums
  const avgDurationMs = measured === 0 ? null : Math.round(duration / measured)
  return { total, pending, fired, completed, failed, cancelled, timedOut, avgDurationMs }
}

/** Reads how many alarms of a tenant are still to fire. */
export function readPending(database: SimulatedDatabase, tenant: string): number {
  return database.talliesOf(tenant).reduce((sum, sums) => sum + sums[1]!, 0)
}

type Sums = [number, number, number, number, number, number, number, number, number]
