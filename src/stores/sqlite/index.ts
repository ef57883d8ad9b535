/** The store on one SQLite file. */

export { connect, realSystem, type System } from './connection/index.ts'
export { backupTo, examine } from './maintenance/index.ts'
export { openSqlite, openSqliteOn } from './open.ts'
export { migrate, migrationSql, schemaVersion } from './schema/index.ts'
export { type SqliteOptions, SqliteStore } from './store.ts'
