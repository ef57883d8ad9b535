/** The store on one SQLite file, with nothing to set up. */

export { connect } from './connection/connection.ts'
export { realSystem, type System } from './connection/system.ts'
export { backupTo } from './maintenance/backup.ts'
export { examine } from './maintenance/doctor.ts'
export { openSqlite, openSqliteOn } from './open.ts'
export { migrate, migrationSql, schemaVersion } from './schema/migrate.ts'
export { type SqliteOptions, SqliteStore } from './store.ts'
