import type { Scope, Serial } from '../../../alarm/index.ts'
import {
  asksBriefs,
  type Brief,
  bytesOf,
  CorruptRow,
  fits,
  type ListPosition,
  type ListQuery,
  mayFit,
  type Page,
  PageRoom,
  wakesFirst,
} from '../../index.ts'
import type { Session } from '../connection/index.ts'
import { alarmAt, type StoredSnapshot, snapshotOf } from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import { streamOf } from './list-streams.ts'

/** How many rows are looked at per round trip to the index. */
const STRIDE_MIN = 64
/** Rows a list with a rare match may look at before it ends the page and hands out a cursor. */
const LOOKED_AT_MAX = 20_000
/** Rows after which others get their turn: some milliseconds. What a row holds counts as rows too. */
const ROWS_PER_TURN = 250
const BYTES_PER_ROW = 4_096

/** Live alarms by when they wake. */
export const UPCOMING = `SELECT alarm, wake_at, id FROM wakeful_timers WHERE tenant = ? AND owner = ?
  AND wake_at IS NOT NULL AND (wake_at, id) > (?, ?) ORDER BY wake_at, id LIMIT ?`

interface UpcomingRow {
  alarm: number
  wake_at: number
  id: number
}

/** A page, found piece by piece: after each, others should get their turn. */
export type Paging = Generator<void, Page>

/** Reads a page of alarms that fit the query. */
export function list(session: Session, scope: Scope, query: ListQuery): Paging {
  return query.order === 'due' ? listDue(session, scope, query) : listNewest(session, scope, query)
}

function* listNewest(session: Session, scope: Scope, query: ListQuery): Paging {
  const stream = streamOf(scope, query)
  const stride = Math.max(STRIDE_MIN, query.limit + 1)
  const room = new PageRoom(query.limit)
  const rest = resting()
  const items: StoredSnapshot[] = []
  let below = query.after?.row ?? Number.MAX_SAFE_INTEGER
  for (let looked = 0; looked < LOOKED_AT_MAX; looked += stride) {
    const rows = stream(session, below, stride)
    for (const seq of rows) {
      if (query.since !== undefined && isBefore(session, seq, query.since)) return { items, next: null }
      const snapshot = fitting(session, seq, query)
      const bytes = snapshot === null ? 0 : bytesOf(snapshot)
      if (snapshot !== null) {
        if (!room.take(bytes)) return { items, next: { row: items.at(-1)!.alarm.seq } }
        items.push(snapshot)
      }
      below = seq
      if (rest(bytes)) yield
    }
    if (rows.length < stride) return { items, next: null }
  }
  return { items, next: { row: below } }
}

function* listDue(session: Session, scope: Scope, query: ListQuery): Paging {
  const stride = Math.max(STRIDE_MIN, query.limit + 1)
  const room = new PageRoom(query.limit)
  const rest = resting()
  const items: StoredSnapshot[] = []
  let place: ListPosition = query.after ?? { row: 0, at: Number.MIN_SAFE_INTEGER }
  for (let looked = 0; looked < LOOKED_AT_MAX; ) {
    const rows = session.all<UpcomingRow>(
      UPCOMING,
      scope.tenant,
      scope.owner,
      place.at ?? 0,
      place.row,
      stride,
    )
    let hasRested = false
    for (const row of rows) {
      const snapshot = fitting(session, row.alarm, query)
      const bytes = snapshot === null ? 0 : bytesOf(snapshot)
      if (snapshot !== null && wakesFirst(snapshot, row.id)) {
        if (!room.take(bytes)) return { items, next: place }
        items.push(snapshot)
      }
      place = { row: row.id, at: row.wake_at }
      looked += 1
      hasRested = rest(bytes)
      if (!hasRested) continue
      yield
      // Others had their turn, and may have moved what comes next.
      break
    }
    if (!hasRested && rows.length < stride) return { items, next: null }
  }
  return { items, next: place }
}

/** Says after every so many rows that it is time to let others have their turn. */
function resting(): (bytes: number) => boolean {
  let rows = 0
  return (bytes) => {
    rows += 1 + bytes / BYTES_PER_ROW
    if (rows < ROWS_PER_TURN) return false
    rows = 0
    return true
  }
}

function isBefore(session: Session, seq: Serial, since: number): boolean {
  const brief = briefAt(session, seq)
  return brief !== null && brief.createdAt < since
}

/** Reads an alarm where it is one that the query asks for; what cannot be read is left out. */
function fitting(session: Session, seq: Serial, query: ListQuery): StoredSnapshot | null {
  if (asksBriefs(query)) {
    const brief = briefAt(session, seq)
    if (brief === null || !mayFit(brief, query)) return null
  }
  try {
    const alarm = alarmAt(session, seq)
    const snapshot = alarm === undefined ? null : snapshotOf(session, alarm)
    return snapshot !== null && fits(snapshot, query) ? snapshot : null
  } catch (thrown) {
    if (thrown instanceof CorruptRow) return null
    throw thrown
  }
}

function briefAt(session: Session, seq: Serial): Brief | null {
  return session.get<Brief>(sql.alarmBrief, seq) ?? null
}
