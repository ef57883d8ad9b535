/** The protocol by which several processes share the shards of one database. */
export type {
  ClaimResult,
  ClaimStatements,
  ClaimWork,
  FairScan,
  LowerBounds,
  Peeked,
  ScannedTimer,
} from './claim-statements.ts'
export { Claims } from './claims.ts'
export { DatabaseClock } from './database-clock.ts'
export type { HeartbeatRequest, HeartbeatResult, OtherProcess } from './heartbeat.ts'
export {
  earliestOf,
  lowerTo,
  NextWakeCache,
  type NextWakes,
  type Position,
  RECENT_MS,
  type Scan,
} from './next-wake-cache.ts'
export { ShardLeases } from './shard-leases.ts'
export type { LeasedShard, LeaseStatements, LeaseTransaction } from './statements.ts'
