/** The port of stores, and what the SQL stores share. */

export * from './check.ts'
export * from './document.ts'
export * from './event-row.ts'
export * from './inbox.ts'
export * from './list-filter.ts'
export * from './list-streams.ts'
export * from './migration.ts'
export * from './page-size.ts'
export * from './portable.ts'
export * from './rows.ts'
export * from './store.ts'
export * from './tallies.ts'
