export * from './columns.ts'
export * from './new-alarms.ts'
export * from './queries.ts'
