export {
  assertPostgresStore,
  foreignTables,
  migrate,
  migratePostgres,
  missingSql,
  missingStore,
  SHARDS,
  schemaVersion,
  VERSION_MIN,
} from './migrate.ts'
export { MIGRATIONS } from './migrations/index.ts'
