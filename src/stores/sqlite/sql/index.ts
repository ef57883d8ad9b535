export * from './queries.ts'
