import type { Scope, Serial } from '../../../alarm/index.ts'
import {
  type AlarmSummary,
  bytesOf,
  FIRST_WAKE,
  isListedAt,
  type ListPosition,
  type ListQuery,
  type ListRow,
  matches,
  mergeStreams,
  NEWEST,
  needsSummary,
  PAGE_BYTES_MAX,
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
import { readSnapshots, type Snapshots } from '../rows/index.ts'
import * as sql from '../sql/index.ts'

/** Live alarms by their next wake. */
export const UPCOMING = `SELECT alarm, wake_at, id FROM wakeful.timers WHERE tenant = $1 AND owner = $2
  AND wake_at IS NOT NULL AND (wake_at, id) > ($3::bigint, $4::bigint) ORDER BY wake_at, id LIMIT $5::bigint`

/**
 * Reads a page of alarms that match the query, in a session with one snapshot. Rows that cannot be read are left out.
 */
export async function list(session: Session, scope: Scope, query: ListQuery): Promise<Page> {
  const isDue = query.order === 'due'
  const source = isDue ? byNextWake(session, scope) : newestFirst(session, scope, query)
  const stride = Math.max(STRIDE_MIN, query.limit + 1)
  const page = new PageLimit(query.limit)
  const items: StoredSnapshot[] = []
  let position = query.after ?? (isDue ? FIRST_WAKE : NEWEST)
  for (let looked = 0; looked < ROWS_READ_MAX; looked += stride) {
    const rows = await source(position, stride)
    const seqs = [...new Set(rows.map(({ alarm }) => alarm))]
    const briefs = await readBriefs(session, seqs, query)
    const whole = readWhole(session, seqs, briefs, query)
    const found = new Map<Serial, StoredSnapshot>()
    for (const row of rows) {
      const brief = briefs.get(row.alarm)
      if (!isDue && brief !== undefined && brief.createdAt < (query.since ?? -Infinity))
        return { items, next: null }
      const mayMatch = brief !== undefined && summaryMatches(brief, query)
      while (mayMatch && !found.has(row.alarm)) {
        const { value, done } = await whole.next()
        if (done) break
        for (const [seq, snapshot] of value) found.set(seq, snapshot)
      }
      const snapshot = found.get(row.alarm)
      if (snapshot !== undefined && matches(snapshot, query) && isListedAt(snapshot, row)) {
        if (!page.add(bytesOf(snapshot))) return { items, next: position }
        items.push(snapshot)
      }
      position = row.position
    }
    if (rows.length < stride) return { items, next: null }
  }
  return { items, next: position }
}

/** The next rows after a position. */
type Source = (after: ListPosition, limit: number) => Promise<readonly ListRow[]>

function byNextWake(session: Session, { tenant, owner }: Scope): Source {
  return async (after, limit) =>
    (await session.rows(UPCOMING, tenant, owner, after.at ?? 0, after.row, limit)).map(upcomingRow)
}

/** The narrowest streams for a query; their alarms are then checked against the whole query. */
function newestFirst(session: Session, { tenant, owner }: Scope, query: ListQuery): Source {
  const streams = streamsOf(query)
  return async ({ row: below }, limit) => {
    const found = streams.map(({ name, values }) =>
      session.rows(STREAM_QUERIES[name], tenant, owner, ...values, below, limit),
    )
    return mergeStreams(await Promise.all(found), limit)
  }
}

/** What is read of an alarm before the whole: the fields of filters, and its size. */
type Sized = AlarmSummary & { readonly bytes: number }

export async function readBriefs(
  session: Session,
  seqs: readonly Serial[],
  query: ListQuery,
): Promise<ReadonlyMap<Serial, Sized>> {
  const rows = await session.rows(sql.summariesBySeq, seqs, query.text === undefined ? 0 : 1)
  return new Map(rows.map((row) => [row[0] as Serial, sizedOf(row as SizedValues)]))
}

type SizedValues = [
  Serial, number, string, string, string | null, string | null, string, string, number, string,
] // biome-ignore format: a list

function sizedOf(row: SizedValues): Sized {
  const [, bytes, label, message, key, subject, correlationId, conversationId, createdAt, target] = row
  return { bytes, label, message, key, subject, correlationId, conversationId, createdAt, target }
}

/** Reads alarms that may match, in this order, about one page's bytes at a time. */
export async function* readWhole(
  session: Session,
  seqs: readonly Serial[],
  briefs: ReadonlyMap<Serial, Sized>,
  query: ListQuery,
): AsyncGenerator<ReadonlyMap<Serial, StoredSnapshot>> {
  let [group, bytes]: [Serial[], number] = [[], 0]
  for (const seq of seqs) {
    const brief = briefs.get(seq)
    if (brief === undefined || (needsSummary(query) && !summaryMatches(brief, query))) continue
    group.push(seq)
    bytes += brief.bytes
    if (bytes < PAGE_BYTES_MAX) continue
    yield inOrder(group, await readSnapshots(session, group))
    ;[group, bytes] = [[], 0]
  }
  if (group.length > 0) yield inOrder(group, await readSnapshots(session, group))
}

function inOrder(seqs: readonly Serial[], { found }: Snapshots): Map<Serial, StoredSnapshot> {
  return new Map(seqs.filter((seq) => found.has(seq)).map((seq) => [seq, found.get(seq)!]))
}

/**
 * The statement of each stream; queries.test.ts checks its plan. Values come after tenant and owner, then the row
 * number and the limit. The last value is compared together with the row number: with a plain equality, the planner
 * may walk the whole table by row number, and search a small tenant's rows among a million others. The values before
 * it are compared by equality: in the row comparison, they would let the scan continue through all of the tenant's
 * rows, because only the first column ends it.
 */
export const STREAM_QUERIES = {
  owner: `SELECT seq FROM wakeful.alarms WHERE tenant = $1
    AND (owner, seq) < ($2, $3::bigint) AND (owner, seq) > ($2, 0) ORDER BY owner DESC, seq DESC LIMIT $4::bigint`,
  subject: newestBy('subject', 'subject IS NOT NULL'),
  correlation: newestBy('correlation_id', 'correlation_id <> id'),
  ownCorrelation: `SELECT seq FROM wakeful.alarms WHERE id = $3 AND correlation_id = id AND tenant = $1 AND owner = $2
    AND seq < $4::bigint LIMIT $5::bigint`,
  conversation: newestBy('conversation_id', "conversation_id <> ''"),
  label: newestBy('label', "label <> ''"),
  ended: `SELECT alarm FROM wakeful.outcomes WHERE status IS NOT NULL AND tenant = $1 AND owner = $2
    AND (status, alarm) < ($3, $4::bigint) AND (status, alarm) > ($3, 0)
    ORDER BY status DESC, alarm DESC LIMIT $5::bigint`,
  endedTarget: `SELECT alarm FROM wakeful.outcomes WHERE status IS NOT NULL AND tenant = $1 AND owner = $2 AND target = $3
    AND (status, alarm) < ($4, $5::bigint) AND (status, alarm) > ($4, 0)
    ORDER BY status DESC, alarm DESC LIMIT $6::bigint`,
  live: `SELECT DISTINCT alarm FROM wakeful.timers WHERE tenant = $1 AND owner = $2 AND alarm < $3::bigint
    ORDER BY alarm DESC LIMIT $4::bigint`,
  liveTarget: `SELECT DISTINCT alarm FROM wakeful.timers WHERE tenant = $1 AND owner = $2 AND target = $3
    AND alarm < $4::bigint ORDER BY alarm DESC LIMIT $5::bigint`,
  awaiting: `SELECT DISTINCT alarm FROM wakeful.timers WHERE tenant = $1 AND owner = $2 AND kind = 'report'
    AND alarm < $3::bigint ORDER BY alarm DESC LIMIT $4::bigint`,
  paused: `SELECT seq FROM wakeful.alarms WHERE paused_at IS NOT NULL AND tenant = $1
    AND (owner, seq) < ($2, $3::bigint) AND (owner, seq) > ($2, 0) ORDER BY owner DESC, seq DESC LIMIT $4::bigint`,
} as const satisfies Record<StreamName, string>

/** Through the partial index of this column. */
function newestBy(column: string, indexed: string): string {
  return `SELECT seq FROM wakeful.alarms WHERE ${indexed} AND tenant = $1 AND owner = $2
    AND (${column}, seq) < ($3, $4::bigint) AND (${column}, seq) > ($3, 0)
    ORDER BY ${column} DESC, seq DESC LIMIT $5::bigint`
}
