import { connect, realSystem, type System, storeFailure } from './connection/index.ts'
import { migrate } from './schema/index.ts'
import { type SqliteOptions, SqliteStore } from './store.ts'

/** Opens a store on a SQLite file; creates or migrates its tables. */
export function openSqlite(options: SqliteOptions): Promise<SqliteStore> {
  return openSqliteOn(realSystem, options)
}

/** The same on another `System`, for the simulation. */
export async function openSqliteOn(system: System, options: SqliteOptions): Promise<SqliteStore> {
  const db = connect(options.path, {}, system)
  try {
    await migrate(db, options.path, options.clock.now(), undefined, system)
    return new SqliteStore(db, options, system)
  } catch (thrown) {
    db.close()
    throw storeFailure(thrown, options.path)
  }
}
