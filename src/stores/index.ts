/** The port of stores, and what the SQL stores share. */

export * from './apply.ts'
export * from './doctor-checks.ts'
export * from './document.ts'
export * from './export-format.ts'
export * from './inbox.ts'
export * from './list.ts'
export * from './migration.ts'
export * from './missing-handlers.ts'
export * from './page-size.ts'
export * from './quarantine.ts'
export * from './rows.ts'
export * from './store.ts'
