import type { ReadScope, Serial } from '../../../alarm/index.ts'
import {
  ALL_ALARMS,
  type AlarmSummary,
  breadthOf,
  bytesOf,
  CorruptRow,
  FIRST_WAKE,
  isCommon,
  isListedAt,
  type ListPosition,
  type ListQuery,
  type ListRow,
  type ListStream,
  matches,
  mergeStreams,
  NEWEST,
  needsSummary,
  type Page,
  PageLimit,
  ROWS_READ_MAX,
  STRIDE_MIN,
  type StoredSnapshot,
  scopeValues,
  streamsOf,
  summaryMatches,
  upcomingRow,
} from '../../index.ts'
import type { Session } from '../connection/index.ts'
import { alarmAt, snapshotOf } from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import { STREAM_QUERIES, UPCOMING_QUERIES } from './list-queries.ts'

/** Rows after which it yields to the event loop: a few milliseconds. Large rows count as several. */
const ROWS_PER_TURN = 250
const BYTES_PER_ROW = 4_096

/** The next rows after a position. */
type Source = (after: ListPosition, limit: number) => readonly ListRow[]

/** Reads a page of alarms that match the query, step by step; after each step the caller yields to the event loop. */
export function* list(session: Session, scope: ReadScope, query: ListQuery): Generator<void, Page> {
  const isDue = query.order === 'due'
  const source = isDue ? byNextWake(session, scope) : newestFirst(session, scope, query)
  const stride = Math.max(STRIDE_MIN, query.limit + 1)
  const page = new PageLimit(query.limit)
  const mustYield = turnCounter()
  const items: StoredSnapshot[] = []
  let position = query.after ?? (isDue ? FIRST_WAKE : NEWEST)
  for (let readRows = 0; readRows < ROWS_READ_MAX; ) {
    const rows = source(position, stride)
    let hasYielded = false
    for (const row of rows) {
      if (!isDue && isOlder(session, row.alarm, query)) return { items, next: null }
      const snapshot = readMatching(session, row.alarm, query)
      const bytes = snapshot === null ? 0 : bytesOf(snapshot)
      if (snapshot !== null && isListedAt(snapshot, row)) {
        if (!page.add(bytes)) return { items, next: position }
        items.push(snapshot)
      }
      position = row.position
      readRows += 1
      hasYielded = mustYield(bytes)
      if (!hasYielded) continue
      yield
      // Other work ran meanwhile, and may have changed what comes next.
      break
    }
    if (!hasYielded && rows.length < stride) return { items, next: null }
  }
  return { items, next: position }
}

function byNextWake(session: Session, scope: ReadScope): Source {
  const upcoming = UPCOMING_QUERIES[breadthOf(scope)]
  return (after, limit) =>
    session.values(upcoming, ...scopeValues(scope), after.at ?? 0, after.row, limit).map(upcomingRow)
}

/** The narrowest streams for a query; their alarms are then checked against the whole query. */
function newestFirst(session: Session, scope: ReadScope, query: ListQuery): Source {
  const streams = streamsOf(query)
  const [queries, bound] = [STREAM_QUERIES[breadthOf(scope)], scopeValues(scope)]
  let isEverything = false
  return ({ row: below }, limit) => {
    const read = ({ name, values }: ListStream) =>
      session.values(queries[name], ...bound, ...values, below, limit)
    if (!isEverything) {
      const found = streams.map(read)
      isEverything = found.some(isCommon)
      if (!isEverything) return mergeStreams(found, limit)
    }
    return mergeStreams([read(ALL_ALARMS)], limit)
  }
}

/** Counts rows and says when to yield. */
export function turnCounter(): (bytes: number) => boolean {
  let rows = 0
  return (bytes) => {
    rows += 1 + bytes / BYTES_PER_ROW
    if (rows < ROWS_PER_TURN) return false
    rows = 0
    return true
  }
}

/** Whether the alarm is older than the list goes back. */
function isOlder(session: Session, seq: Serial, { since }: ListQuery): boolean {
  return since !== undefined && (summaryAt(session, seq)?.createdAt ?? since) < since
}

/** Reads an alarm if it matches the query; null for a row that cannot be read. */
function readMatching(session: Session, seq: Serial, query: ListQuery): StoredSnapshot | null {
  if (needsSummary(query)) {
    const summary = summaryAt(session, seq)
    if (summary === null || !summaryMatches(summary, query)) return null
  }
  try {
    const alarm = alarmAt(session, seq)
    const snapshot = alarm === undefined ? null : snapshotOf(session, alarm)
    return snapshot !== null && matches(snapshot, query) ? snapshot : null
  } catch (thrown) {
    if (thrown instanceof CorruptRow) return null
    throw thrown
  }
}

function summaryAt(session: Session, seq: Serial): AlarmSummary | null {
  return session.get<AlarmSummary>(sql.alarmSummary, seq) ?? null
}
