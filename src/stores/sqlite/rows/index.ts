export * from './calendars.ts'
export * from './quarantine.ts'
export * from './row-writes.ts'
export * from './snapshots.ts'
