import type { DatabaseSync } from 'node:sqlite'
import { WakefulError } from '../../../error.ts'
import { assertNotTooOld, type Migrated, type Migration, migratedBy } from '../../index.ts'
import { beginImmediate, realSystem, type System, storeFailure } from '../connection/index.ts'
import { MIGRATIONS } from './migrations/index.ts'

const LEDGER = `CREATE TABLE IF NOT EXISTS wakeful_migrations (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  breaking INTEGER NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT`

const BUSY_MS_MAX = 10_000

/** Brings the schema up to date. Safe when several processes start at once: the first one does it. */
export async function migrate(
  db: DatabaseSync,
  path: string,
  now: number,
  migrations = MIGRATIONS,
  system: System = realSystem,
): Promise<Migrated> {
  const before = schemaVersion(db)
  assertNotTooOld(path, before, migrations)
  refuseNewer(db, path, migrations)
  if (before >= migrations.at(-1)!.number) return migratedBy([], before)
  await beginImmediate(db, path, BUSY_MS_MAX, system)
  try {
    const from = schemaVersion(db)
    const missing = migrations.filter((each) => each.number > from)
    db.exec(LEDGER)
    for (const each of missing) {
      db.exec(each.sql)
      db.prepare(
        'INSERT INTO wakeful_migrations (number, name, breaking, applied_at) VALUES (?, ?, ?, ?)',
      ).run(each.number, each.name, each.breaking ? 1 : 0, now)
    }
    db.exec('COMMIT')
    return migratedBy(missing, from)
  } catch (thrown) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw storeFailure(thrown, path)
  }
}

/** The number of the newest migration the database has; 0 for one that is new to Wakeful. */
export function schemaVersion(db: DatabaseSync): number {
  const ledger = db
    .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'wakeful_migrations'")
    .get()
  if (ledger === undefined) return 0
  const row = db.prepare('SELECT max(number) AS number FROM wakeful_migrations').get() as {
    number: number | null
  }
  return row.number ?? 0
}

/** The SQL that brings the database at this path from this version to the newest, for those who migrate by hand. */
export function migrationSql(path: string, from: number): string {
  assertNotTooOld(path, from, MIGRATIONS)
  const missing = MIGRATIONS.filter((each) => each.number > from)
  return missing.map((each) => `-- ${each.number} ${each.name}\n${each.sql.trim()}\n`).join('\n')
}

function refuseNewer(db: DatabaseSync, path: string, migrations: readonly Migration[]): void {
  const known = migrations.at(-1)!.number
  if (schemaVersion(db) <= known) return
  const newer = db
    .prepare('SELECT number, name FROM wakeful_migrations WHERE number > ? AND breaking = 1 ORDER BY number')
    .get(known)
  if (newer === undefined) return
  const { number, name } = newer as { number: number; name: string }
  throw new WakefulError('store.schema_too_new', { name: path, number, schema: name, known })
}
