export { migrate, migrationSql, schemaVersion } from './migrate.ts'
export { MIGRATIONS } from './migrations/index.ts'
