/** The store in a PostgreSQL database: many processes, one owner per shard. Needs the package `pg`. */

import '../../errors/node-version.ts'

export { examinePostgres } from './maintenance/index.ts'
export { assertPostgresStore, migratePostgres, missingSql, missingStore } from './schema/index.ts'
export { openPostgres, type PostgresOptions, PostgresStore } from './store.ts'
