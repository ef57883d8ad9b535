import { randomUUID } from 'node:crypto'
import { errorText, WakefulError } from '../../../error.ts'
import { assertNotTooOld, type Migrated, type Migration, migratedBy } from '../../index.ts'
import { Database, type Dialect, isForeignTable, type Session } from '../connection/index.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { STATISTICS_SQL, seedStatistics } from './statistics.ts'

const LEDGER = `CREATE TABLE IF NOT EXISTS wakeful.migrations (
  number bigint PRIMARY KEY,
  name text NOT NULL,
  breaking boolean NOT NULL,
  applied_at bigint NOT NULL
)`
/** The key of the advisory lock of migrations: the same in every process. */
const LOCK = 7_420_001
/** The oldest supported server. */
export const VERSION_MIN = 140_000
/** Default number of shards per pool. */
export const SHARDS = 64

/** Brings the schema up to date. The number of shards per pool is fixed when the tables are created. Safe when several processes start at once: the first one does it, the others wait. */
export async function migrate(
  database: Database,
  now: number,
  shards: number,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<Migrated> {
  try {
    await refuseOldServer(database)
    const before = await schemaVersion(database.session)
    assertNotTooOld(placeOf(database), before, migrations)
    await refuseNewer(database, migrations)
    if (before >= migrations.at(-1)!.number) return migratedBy([], before)
    return await database.transaction((session) => run(session, database.schema, now, shards, migrations))
  } catch (thrown) {
    throw foreignTables(thrown, database)
  }
}

/** The error for a schema with tables of another program; any other error unchanged. */
export function foreignTables(cause: unknown, { schema, name }: Database): unknown {
  if (!isForeignTable(cause)) return cause
  return new WakefulError('store.foreign_tables', { schema, name, cause: errorText(cause) }, { cause })
}

async function run(
  session: Session,
  schema: string,
  now: number,
  shards: number,
  migrations: readonly Migration[],
): Promise<Migrated> {
  // A migration may take longer than any other statement, and so may waiting for it.
  await session.plain('SET LOCAL statement_timeout = 0')
  await session.rows('SELECT pg_advisory_xact_lock($1::int, hashtext($2))', LOCK, schema)
  // Not for long: while a migration waits for a table that a transaction uses, all others queue behind it.
  await session.plain(`SET LOCAL lock_timeout = '10s'`)
  const from = await schemaVersion(session)
  const missing = migrations.filter((each) => each.number > from)
  if (!(await hasSchema(session))) await session.plain(`CREATE SCHEMA ${session.dialect.schema}`)
  if (missing.length > 0) await session.plain(LEDGER)
  for (const each of missing) {
    await session.plain(each.sql)
    await session.run(
      'INSERT INTO wakeful.migrations (number, name, breaking, applied_at) VALUES ($1::bigint, $2, $3::boolean, $4::bigint)',
      each.number,
      each.name,
      String(each.breaking),
      now,
    )
  }
  if (from === 0) {
    await fix(session, shards)
    await seedStatistics(session)
  }
  return migratedBy(missing, from)
}

/** Checked first: CREATE SCHEMA IF NOT EXISTS needs a right that Wakeful's role may not have. */
async function hasSchema(session: Session): Promise<boolean> {
  const query = 'SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1'
  return (await session.row(query, session.dialect.plainSchema)) !== undefined
}

async function fix(session: Session, shards: number): Promise<void> {
  const insert = 'INSERT INTO wakeful.meta (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING'
  await session.run(insert, 'shards', String(shards))
  await session.run(insert, 'store', randomUUID())
}

/** The number of the database's newest migration; 0 for a database without Wakeful. */
export async function schemaVersion(session: Session): Promise<number> {
  // Read from the catalog's tables: `to_regclass` may answer from before the wait for the lock.
  const ledger = await session.row(
    "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'migrations'",
    session.dialect.plainSchema,
  )
  if (ledger === undefined) return 0
  const [number] = (await session.row('SELECT max(number) FROM wakeful.migrations')) ?? []
  return (number as number | null) ?? 0
}

/** The time at which the text is run, not the one at which it was printed. */
const RUN_AT = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/** The SQL of the missing migrations, to run by hand. */
export function migrationSql(dialect: Dialect, from: number, hasSchema: boolean): string {
  const missing = MIGRATIONS.filter((each) => each.number > from)
  const schema = hasSchema ? '' : `CREATE SCHEMA ${dialect.schema};\n`
  const head = from === 0 ? [`${schema}${LEDGER};\n`] : []
  const texts = missing.map(
    ({ number, name, sql, breaking }) =>
      `-- ${number} ${name}\n${sql.trim()}\n\nINSERT INTO wakeful.migrations VALUES (${number}, '${name}', ${breaking}, ${RUN_AT});\n`,
  )
  const fixed = [
    `INSERT INTO wakeful.meta VALUES ('shards', '${SHARDS}'), ('store', gen_random_uuid()::text);\n`,
    STATISTICS_SQL,
  ]
  const parts = [...head, ...texts, ...(from === 0 ? fixed : [])]
  // All or nothing, even with a client that continues after an error: the rest would empty tables that are in use.
  return missing.length === 0 ? '' : dialect.text(['BEGIN;\n', ...parts, 'COMMIT;\n'].join('\n'))
}

/** Brings the schema of a database up to date. */
export function migratePostgres(url: string, now: number): Promise<Migrated> {
  return withDatabase(url, (database) => migrate(database, now, SHARDS))
}

/** The name of a store in messages. */
function placeOf({ schema, name }: Database): string {
  return `schema ${schema} of ${name}`
}

/** The place of a missing store, for messages; null if there is one. */
export function missingStore(url: string): Promise<string | null> {
  return withDatabase(url, async (database) =>
    (await schemaVersion(database.session)) > 0 ? null : placeOf(database),
  )
}

/** Refuses a database without a store: a command that only reads must not create tables. */
export async function assertPostgresStore(url: string): Promise<void> {
  const place = await missingStore(url)
  if (place === null) return
  throw new WakefulError('store.not_found', { place })
}

/** The SQL that `migratePostgres` would run. */
export function missingSql(url: string): Promise<string> {
  return withDatabase(url, async (database) => {
    const { dialect, session } = database
    const version = await schemaVersion(session)
    assertNotTooOld(placeOf(database), version, MIGRATIONS)
    return migrationSql(dialect, version, await hasSchema(session))
  })
}

async function withDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await Database.open({ url })
  try {
    return await work(database)
  } catch (thrown) {
    throw database.failure(foreignTables(thrown, database))
  } finally {
    await database.close()
  }
}

async function refuseNewer(database: Database, migrations: readonly Migration[]): Promise<void> {
  const known = migrations.at(-1)!.number
  if ((await schemaVersion(database.session)) <= known) return
  const newer = await database.session.row(
    'SELECT number, name FROM wakeful.migrations WHERE number > $1::bigint AND breaking ORDER BY number LIMIT 1',
    known,
  )
  if (newer === undefined) return
  const [number, name] = newer as [number, string]
  throw new WakefulError('store.schema_too_new', { name: database.name, number, schema: name, known })
}

const SERVER = `SELECT current_setting('server_version_num')::int, current_setting('server_encoding')`

async function refuseOldServer({ session, name }: Database): Promise<void> {
  const [version, encoding] = (await session.row(SERVER)) as [number, string]
  if (encoding !== 'UTF8') throw new WakefulError('store.encoding', { name, encoding })
  if (version >= VERSION_MIN) return
  throw new WakefulError('store.too_old', { name, version: Math.floor(version / 10_000), min: 14 })
}
