export * from './migrate.ts'
export { MIGRATIONS } from './migrations/index.ts'
