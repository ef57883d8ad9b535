export { leaseStatements } from './lease-statements.ts'
export { listenStatements } from './listening.ts'
