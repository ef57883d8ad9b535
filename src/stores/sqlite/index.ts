/** The store on one SQLite file, with nothing to set up. */
export { type Migrated, migrate, migrationSql, schemaVersion } from './migrate.ts'
export { openSqlite, type SqliteOptions, SqliteStore } from './store.ts'
