import type { Scope, Serial } from '../../alarm/index.ts'
import { CorruptRow, fits, type ListQuery, type Page, type Place, wakesFirst } from '../index.ts'
import type { Session } from './session.ts'
import { alarmAt, type StoredSnapshot, snapshotOf } from './snapshots.ts'
import { streamOf } from './streams.ts'

/** How many rows are looked at per round trip to the index. */
const STRIDE_MIN = 64
/** Rows a list with a rare match may look at before it ends the page and hands out a cursor. */
const LOOKED_AT_MAX = 20_000

/** Live alarms by when they wake. */
export const UPCOMING = `SELECT alarm, wake_at, id FROM wakeful_timers WHERE tenant = ? AND owner = ?
  AND wake_at IS NOT NULL AND (wake_at, id) > (?, ?) ORDER BY wake_at, id LIMIT ?`

interface UpcomingRow {
  alarm: number
  wake_at: number
  id: number
}

/** Reads a page of alarms that fit the query. */
export function list(session: Session, scope: Scope, query: ListQuery): Page {
  return query.order === 'due' ? listDue(session, scope, query) : listNewest(session, scope, query)
}

function listNewest(session: Session, scope: Scope, query: ListQuery): Page {
  const stream = streamOf(scope, query)
  const stride = Math.max(STRIDE_MIN, query.limit + 1)
  const items: StoredSnapshot[] = []
  let below = query.after?.row ?? Number.MAX_SAFE_INTEGER
  for (let looked = 0; looked < LOOKED_AT_MAX; looked += stride) {
    const rows = stream(session, below, stride)
    for (const seq of rows) {
      const snapshot = readable(session, seq)
      if (snapshot !== null && query.since !== undefined && snapshot.alarm.createdAt < query.since)
        return { items, next: null }
      if (snapshot !== null && fits(snapshot, query)) {
        if (items.length === query.limit) return { items, next: { row: items.at(-1)!.alarm.seq } }
        items.push(snapshot)
      }
      below = seq
    }
    if (rows.length < stride) return { items, next: null }
  }
  return { items, next: { row: below } }
}

function listDue(session: Session, scope: Scope, query: ListQuery): Page {
  const stride = Math.max(STRIDE_MIN, query.limit + 1)
  const items: StoredSnapshot[] = []
  let place: Place = query.after ?? { row: 0, at: Number.MIN_SAFE_INTEGER }
  for (let looked = 0; looked < LOOKED_AT_MAX; looked += stride) {
    const rows = session.all<UpcomingRow>(
      UPCOMING,
      scope.tenant,
      scope.owner,
      place.at ?? 0,
      place.row,
      stride,
    )
    for (const row of rows) {
      const snapshot = readable(session, row.alarm)
      if (snapshot !== null && wakesFirst(snapshot, row.id) && fits(snapshot, query)) {
        if (items.length === query.limit) return { items, next: place }
        items.push(snapshot)
      }
      place = { row: row.id, at: row.wake_at }
    }
    if (rows.length < stride) return { items, next: null }
  }
  return { items, next: place }
}

function readable(session: Session, seq: Serial): StoredSnapshot | null {
  try {
    const alarm = alarmAt(session, seq)
    return alarm === undefined ? null : snapshotOf(session, alarm)
  } catch (thrown) {
    if (thrown instanceof CorruptRow) return null
    throw thrown
  }
}
