export * from './apply.ts'
export * from './calendars.ts'
export * from './quarantine.ts'
export * from './snapshots.ts'
