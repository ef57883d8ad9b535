/** The store on one SQLite file. */

import '../../errors/node-version.ts'

export { connect, realSystem, type System } from './connection/index.ts'
export { backupTo, examine } from './maintenance/index.ts'
export { migrate, migrationSql, schemaVersion } from './schema/index.ts'
export { openSqlite, openSqliteOn, type SqliteOptions, SqliteStore } from './store.ts'
