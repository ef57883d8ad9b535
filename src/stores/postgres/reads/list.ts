import type { ReadScope, Serial } from '../../../alarm/index.ts'
import {
  ALL_ALARMS,
  type AlarmSummary,
  breadthOf,
  bytesOf,
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
  PAGE_BYTES_MAX,
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
import { readSnapshots, type Snapshots } from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import { IN_INDEX_ORDER, STREAM_QUERIES, UPCOMING_QUERIES } from './list-queries.ts'

/** Rows that a list reads at a time once the first ones did not fill the page. */
const STRIDE_MAX = 1_024

/**
 * Reads a page of alarms that match the query, in a session with one snapshot. Rows that cannot be read are left out.
 */
export async function list(session: Session, scope: ReadScope, query: ListQuery): Promise<Page> {
  const isDue = query.order === 'due'
  if (scope.owner === null && !isDue) session.send(IN_INDEX_ORDER)
  const source = isDue ? byNextWake(session, scope) : newestFirst(session, scope, query)
  let stride = Math.max(STRIDE_MIN, query.limit + 1)
  const page = new PageLimit(query.limit)
  const items: StoredSnapshot[] = []
  let position = query.after ?? (isDue ? FIRST_WAKE : NEWEST)
  for (let looked = 0; looked < ROWS_READ_MAX; ) {
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
    looked += rows.length
    // Where matches are rare, each round trip should look at more.
    stride = Math.max(stride, Math.min(2 * stride, STRIDE_MAX))
  }
  return { items, next: position }
}

/** The next rows after a position. */
type Source = (after: ListPosition, limit: number) => Promise<readonly ListRow[]>

function byNextWake(session: Session, scope: ReadScope): Source {
  const upcoming = UPCOMING_QUERIES[breadthOf(scope)]
  return async (after, limit) =>
    (await session.rows(upcoming, ...scopeValues(scope), after.at ?? 0, after.row, limit)).map(upcomingRow)
}

/** The narrowest streams for a query; their alarms are then checked against the whole query. */
function newestFirst(session: Session, scope: ReadScope, query: ListQuery): Source {
  const streams = streamsOf(query)
  const [queries, bound] = [STREAM_QUERIES[breadthOf(scope)], scopeValues(scope)]
  let isEverything = false
  return async ({ row: below }, limit) => {
    const read = ({ name, values }: ListStream) =>
      session.rows(queries[name], ...bound, ...values, below, limit)
    if (!isEverything) {
      const found = await Promise.all(streams.map(read))
      isEverything = found.some(isCommon)
      if (!isEverything) return mergeStreams(found, limit)
    }
    return mergeStreams([await read(ALL_ALARMS)], limit)
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
