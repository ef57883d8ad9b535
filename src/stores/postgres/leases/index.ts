export { heartbeatResult, heartbeatValues, PostgresLeaseStatements } from './lease-statements.ts'
export { Notifier } from './notifier.ts'
