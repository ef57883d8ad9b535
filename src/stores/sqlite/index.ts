/** The store on one SQLite file, with nothing to set up. */
export { backupTo } from './backup.ts'
export { connect } from './connection.ts'
export { examine } from './doctor.ts'
export { migrate, migrationSql, schemaVersion } from './migrate.ts'
export { openSqlite, openSqliteOn } from './open.ts'
export { type SqliteOptions, SqliteStore } from './store.ts'
export { realSystem, type System } from './system.ts'
