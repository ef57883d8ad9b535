import type { Serial } from '../../../alarm/index.ts'
import { formatInstant } from '../../../time/index.ts'
import {
  type PortableLine,
  portableAlarm,
  portableDamage,
  portableDocument,
  portableEvent,
  portableHead,
  type Values,
} from '../../index.ts'
import type { Database, Querying, Session } from '../connection/index.ts'
import { DOCUMENT_QUERIES, documentOf, eventIn, INBOX_QUERIES, wakeOf } from '../reads/index.ts'
import { readSnapshots } from '../rows/index.ts'
import { eventsOfAll } from '../sql/index.ts'

/** The statements of an export: it walks each table once, in row order. */
export const EXPORT_QUERIES = {
  countAlarms: 'SELECT count(*) FROM wakeful.alarms',
  countEvents: 'SELECT count(*) FROM wakeful.events',
  /** In byte order, as in SQLite, whatever the database's collation. */
  calendars: `SELECT tenant, name, dates, weekend FROM wakeful.calendars ORDER BY tenant COLLATE "C", name COLLATE "C"`,
  alarms: 'SELECT seq FROM wakeful.alarms WHERE seq > $1::bigint ORDER BY seq LIMIT $2::bigint',
  formerKeys: 'SELECT alarm, idempotency_key FROM wakeful.idempotency_keys WHERE alarm = ANY($1::bigint[])',
} as const

const PAGE = 500
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
  const client = database.dedicated(0)
  client.on('error', () => {})
  try {
    await client.connect()
    const session = database.userSession(client as Querying)
    for (const statement of BEGIN) await session.plain(statement)
    // Counting the events may take long: it must not use the connections of other reads.
    const [alarms] = (await session.row(EXPORT_QUERIES.countAlarms)) as [number]
    const [events] = (await session.row(EXPORT_QUERIES.countEvents)) as [number]
    yield portableHead(formatInstant(now), { alarms, events })
    yield* calendarLines(session)
    const written = { alarms: 0, events: 0, documents: 0, wakes: 0 }
    for (const row of await session.rows(DOCUMENT_QUERIES.all)) {
      written.documents += 1
      yield portableDocument(documentOf(row))
    }
    for await (const rows of pages(session, EXPORT_QUERIES.alarms)) {
      for (const line of await alarmLines(session, rows)) {
        if ('alarm' in line) written.alarms += 1
        yield line
      }
    }
    for await (const rows of pages(session, eventsOfAll)) {
      written.events += rows.length
      for (const row of rows) yield portableEvent(eventIn(row))
    }
    for await (const rows of pages(session, INBOX_QUERIES.all)) {
      written.wakes += rows.length
      for (const row of rows) yield { wake: wakeOf(row) }
    }
    yield { end: true, ...written }
  } catch (thrown) {
    throw database.failure(thrown)
  } finally {
    await client.end().catch(() => {})
  }
}

async function* calendarLines(session: Session): AsyncGenerator<PortableLine> {
  for (const row of await session.rows(EXPORT_QUERIES.calendars)) {
    const [tenant, name, dates, weekend] = row as [string, string, string, string]
    yield { calendar: { tenant, name, dates: JSON.parse(dates), weekend: JSON.parse(weekend) } }
  }
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

/** Pages of a table; the first column says where the next one continues. */
async function* pages(session: Session, query: string): AsyncGenerator<Values[]> {
  for (let after: Serial = 0; ; ) {
    const rows = await session.rows(query, after, PAGE)
    yield rows
    if (rows.length < PAGE) return
    after = rows.at(-1)![0] as Serial
  }
}
