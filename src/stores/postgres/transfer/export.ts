import type { Serial } from '../../../alarm/index.ts'
import {
  documentOf,
  eventOf,
  type PortableLine,
  pagesOf,
  portableAlarm,
  portableDamage,
  portableDocument,
  portableEvent,
  portableExport,
  SECRET_META,
  type Values,
  wakeOf,
} from '../../index.ts'
import type { Database, Querying, Session } from '../connection/index.ts'
import { DOCUMENT_QUERIES, INBOX_QUERIES, LOG_QUERIES } from '../reads/index.ts'
import { readSnapshots } from '../rows/index.ts'
import { meta } from '../sql/index.ts'

/** The statements of an export: it walks each table once, in row order. */
export const EXPORT_QUERIES = {
  countAlarms: 'SELECT count(*) FROM wakeful.alarms',
  countEvents: 'SELECT count(*) FROM wakeful.events',
  /** In byte order, as in SQLite, whatever the database's collation. */
  calendars: `SELECT tenant, name, dates, weekend FROM wakeful.calendars ORDER BY tenant COLLATE "C", name COLLATE "C"`,
  alarms: 'SELECT seq FROM wakeful.alarms WHERE seq > $1::bigint ORDER BY seq LIMIT $2::bigint',
  formerKeys: 'SELECT alarm, idempotency_key FROM wakeful.idempotency_keys WHERE alarm = ANY($1::bigint[])',
} as const

/** One snapshot for all of it. The reader of the lines may take its time. */
const BEGIN = [
  'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY',
  'SET LOCAL statement_timeout = 0',
  'SET LOCAL idle_in_transaction_session_timeout = 0',
  'SET LOCAL enable_seqscan = off',
]

/** Writes out everything as of one moment, on a separate connection. */
export async function* exportLines(database: Database, now: number): AsyncGenerator<PortableLine> {
  database.assertOpen()
  const client = database.dedicated()
  client.on('error', () => {})
  try {
    await client.connect()
    const session = database.userSession(client as Querying)
    for (const statement of BEGIN) await session.plain(statement)
    // Counting the events may take long: it must not use the connections of other reads.
    const [alarms] = (await session.row(EXPORT_QUERIES.countAlarms)) as [number]
    const [events] = (await session.row(EXPORT_QUERIES.countEvents)) as [number]
    const secret = ((await session.row(meta, SECRET_META))?.[0] ?? null) as string | null
    yield* portableExport(now, { alarms, events, secret }, lines(session))
  } catch (thrown) {
    throw database.failure(thrown)
  } finally {
    await client.end().catch(() => {})
  }
}

async function* lines(session: Session): AsyncGenerator<PortableLine> {
  for (const row of await session.rows(EXPORT_QUERIES.calendars)) {
    const [tenant, name, dates, weekend] = row as [string, string, string, string]
    yield { calendar: { tenant, name, dates: JSON.parse(dates), weekend: JSON.parse(weekend) } }
  }
  for (const row of await session.rows(DOCUMENT_QUERIES.all)) yield portableDocument(documentOf(row))
  const pages = (query: string) => pagesOf((after, limit) => session.rows(query, after, limit))
  for await (const rows of pages(EXPORT_QUERIES.alarms)) yield* await alarmLines(session, rows)
  for await (const rows of pages(LOG_QUERIES.everything))
    for (const row of rows) yield portableEvent(eventOf(row))
  for await (const rows of pages(INBOX_QUERIES.all)) for (const row of rows) yield { wake: wakeOf(row) }
}

/** The alarms of a page, each as its line or as its error. */
async function alarmLines(session: Session, rows: readonly Values[]): Promise<PortableLine[]> {
  const seqs = rows.map(([seq]) => seq as Serial)
  const [{ found, damaged }, kept] = await Promise.all([
    readSnapshots(session, seqs),
    session.rows(EXPORT_QUERIES.formerKeys, seqs),
  ])
  const keysOf = Map.groupBy(kept as [Serial, string][], ([alarm]) => alarm)
  return seqs.map((seq) => {
    const snapshot = found.get(seq)
    if (snapshot === undefined) return portableDamage(Number(seq), damaged.get(seq))
    return portableAlarm(
      snapshot,
      (keysOf.get(seq) ?? []).map(([, key]) => key),
    )
  })
}
