export { PostgresLeaseStatements } from './lease-statements.ts'
export { PostgresListening } from './listening.ts'
