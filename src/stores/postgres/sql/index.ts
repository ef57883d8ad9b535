export * from './columns.ts'
export * from './queries.ts'
