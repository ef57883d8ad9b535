import type { Scope, Serial } from '../../../alarm/index.ts'
import {
  type AlarmSummary,
  bytesOf,
  CorruptRow,
  FIRST_WAKE,
  isListedAt,
  type ListPosition,
  type ListQuery,
  type ListRow,
  matches,
  mergeStreams,
  NEWEST,
  needsSummary,
  type Page,
  PageLimit,
  ROWS_READ_MAX,
  STRIDE_MIN,
  type StoredSnapshot,
  type StreamName,
  streamsOf,
  summaryMatches,
  upcomingRow,
} from '../../index.ts'
import type { Session } from '../connection/index.ts'
import { alarmAt, snapshotOf } from '../rows/index.ts'
import * as sql from '../sql/index.ts'

/** Rows after which it yields to the event loop: a few milliseconds. Large rows count as several. */
const ROWS_PER_TURN = 250
const BYTES_PER_ROW = 4_096

/** Live alarms by their next wake. */
export const UPCOMING = `SELECT alarm, wake_at, id FROM wakeful_timers WHERE tenant = ? AND owner = ?
  AND wake_at IS NOT NULL AND (wake_at, id) > (?, ?) ORDER BY wake_at, id LIMIT ?`

/** The next rows after a position. */
type Source = (after: ListPosition, limit: number) => readonly ListRow[]

/** Reads a page of alarms that match the query, step by step; after each step the caller yields to the event loop. */
export function* list(session: Session, scope: Scope, query: ListQuery): Generator<void, Page> {
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

function byNextWake(session: Session, { tenant, owner }: Scope): Source {
  return (after, limit) =>
    session.values(UPCOMING, tenant, owner, after.at ?? 0, after.row, limit).map(upcomingRow)
}

/** The narrowest streams for a query; their alarms are then checked against the whole query. */
function newestFirst(session: Session, { tenant, owner }: Scope, query: ListQuery): Source {
  const streams = streamsOf(query)
  return ({ row: below }, limit) => {
    const found = streams.map(({ name, values }) =>
      session.values(STREAM_QUERIES[name], tenant, owner, ...values, below, limit),
    )
    return mergeStreams(found, limit)
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

/** Every statement a stream may run; each has an EXPLAIN test. The place and the limit are bound last. */
export const STREAM_QUERIES = {
  owner: `SELECT seq AS alarm FROM wakeful_alarms WHERE tenant = ? AND owner = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
  subject: `SELECT seq AS alarm FROM wakeful_alarms WHERE tenant = ? AND owner = ? AND subject = ? AND seq < ?
    ORDER BY seq DESC LIMIT ?`,
  correlation: `SELECT seq AS alarm FROM wakeful_alarms WHERE tenant = ? AND owner = ? AND correlation_id = ?
    AND correlation_id <> id AND seq < ? ORDER BY seq DESC LIMIT ?`,
  ownCorrelation: `SELECT seq AS alarm FROM wakeful_alarms WHERE tenant = ? AND owner = ? AND id = ? AND correlation_id = id
    AND seq < ? LIMIT ?`,
  conversation: `SELECT seq AS alarm FROM wakeful_alarms WHERE tenant = ? AND owner = ? AND conversation_id = ?
    AND conversation_id <> '' AND seq < ? ORDER BY seq DESC LIMIT ?`,
  label: `SELECT seq AS alarm FROM wakeful_alarms WHERE tenant = ? AND owner = ? AND label = ? AND label <> '' AND seq < ?
    ORDER BY seq DESC LIMIT ?`,
  ended: `SELECT alarm FROM wakeful_outcomes WHERE tenant = ? AND owner = ? AND status = ? AND alarm < ?
    ORDER BY alarm DESC LIMIT ?`,
  endedTarget: `SELECT alarm FROM wakeful_outcomes WHERE tenant = ? AND owner = ? AND target = ? AND status = ?
    AND alarm < ? ORDER BY alarm DESC LIMIT ?`,
  live: `SELECT DISTINCT alarm FROM wakeful_timers WHERE tenant = ? AND owner = ? AND alarm < ? ORDER BY alarm DESC LIMIT ?`,
  liveTarget: `SELECT DISTINCT alarm FROM wakeful_timers WHERE tenant = ? AND owner = ? AND target = ? AND alarm < ?
    ORDER BY alarm DESC LIMIT ?`,
  awaiting: `SELECT DISTINCT alarm FROM wakeful_timers WHERE tenant = ? AND owner = ? AND kind = 'report' AND alarm < ?
    ORDER BY alarm DESC LIMIT ?`,
  paused: `SELECT seq AS alarm FROM wakeful_alarms WHERE tenant = ? AND owner = ? AND paused_at IS NOT NULL AND seq < ?
    ORDER BY seq DESC LIMIT ?`,
} as const satisfies Record<StreamName, string>
