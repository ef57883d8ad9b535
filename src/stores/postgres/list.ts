import { LAST_SERIAL, type Scope, type Serial } from '../../alarm/index.ts'
import { fits, type ListQuery, type Page, type Place, wakesFirst } from '../index.ts'
import type { Session } from './session.ts'
import { readSnapshots, type StoredSnapshot } from './snapshots.ts'
import { streamOf } from './streams.ts'

/** How many rows are looked at per round trip. */
const STRIDE_MIN = 64
/** Rows a list with a rare match may look at before it ends the page and hands out a cursor. */
const LOOKED_AT_MAX = 20_000

/** Live alarms by when they wake. */
export const UPCOMING = `SELECT alarm, wake_at, id FROM wakeful.timers WHERE tenant = $1 AND owner = $2
  AND wake_at IS NOT NULL AND (wake_at, id) > ($3::bigint, $4::bigint) ORDER BY wake_at, id LIMIT $5::bigint`

/** Reads a page of alarms that fit the query. What cannot be read is left out. */
export function list(session: Session, scope: Scope, query: ListQuery): Promise<Page> {
  return query.order === 'due' ? listDue(session, scope, query) : listNewest(session, scope, query)
}

async function listNewest(session: Session, scope: Scope, query: ListQuery): Promise<Page> {
  const stream = streamOf(scope, query)
  const stride = Math.max(STRIDE_MIN, query.limit + 1)
  const items: StoredSnapshot[] = []
  let below = query.after?.row ?? LAST_SERIAL
  for (let looked = 0; looked < LOOKED_AT_MAX; looked += stride) {
    const seqs = await stream(session, below, stride)
    const { found } = await readSnapshots(session, seqs)
    for (const seq of seqs) {
      const snapshot = found.get(seq)
      if (snapshot !== undefined && query.since !== undefined && snapshot.alarm.createdAt < query.since)
        return { items, next: null }
      if (snapshot !== undefined && fits(snapshot, query)) {
        if (items.length === query.limit) return { items, next: { row: items.at(-1)!.alarm.seq } }
        items.push(snapshot)
      }
      below = seq
    }
    if (seqs.length < stride) return { items, next: null }
  }
  return { items, next: { row: below } }
}

async function listDue(session: Session, scope: Scope, query: ListQuery): Promise<Page> {
  const { tenant, owner } = scope
  const stride = Math.max(STRIDE_MIN, query.limit + 1)
  const items: StoredSnapshot[] = []
  let place: Place = query.after ?? { row: 0, at: Number.MIN_SAFE_INTEGER }
  for (let looked = 0; looked < LOOKED_AT_MAX; looked += stride) {
    const rows = await session.rows(UPCOMING, tenant, owner, place.at ?? 0, place.row, stride)
    const { found } = await readSnapshots(session, [...new Set(rows.map(([seq]) => seq as Serial))])
    for (const [seq, wakeAt, id] of rows as [Serial, number, Serial][]) {
      const snapshot = found.get(seq)
      if (snapshot !== undefined && wakes(snapshot, id) && fits(snapshot, query)) {
        if (items.length === query.limit) return { items, next: place }
        items.push(snapshot)
      }
      place = { row: id, at: wakeAt }
    }
    if (rows.length < stride) return { items, next: null }
  }
  return { items, next: place }
}

/** It may have been moved, or have ended, between the two looks. */
function wakes(snapshot: StoredSnapshot, timerId: Serial): boolean {
  return (
    snapshot.timers.some(({ id, wakeAt }) => id === timerId && wakeAt !== null) &&
    wakesFirst(snapshot, timerId)
  )
}
