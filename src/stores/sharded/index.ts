/** The protocol by which several processes share the shards of one database. */
export type {
  ClaimResult,
  ClaimStatements,
  ClaimWork,
  FairScan,
  LowerBounds,
  Peeked,
  ScannedTimer,
} from './claims.ts'
export type { HeartbeatRequest, HeartbeatResult, OtherProcess } from './heartbeat.ts'
export type { ListenCallbacks, ListenConnection, ListenStatements } from './listener.ts'
export { lowerTo, NextWakeCache, type NextWakes } from './next-wake-cache.ts'
export { CALENDARS_NOTICE, SHARDS_NOTICE } from './notices.ts'
export {
  DatabaseClock,
  realTimers,
  type ShardedOptions,
  ShardedProtocol,
  type Timers,
  wait,
} from './protocol.ts'
export type { LeasedShard, LeaseStatements, LeaseTransaction } from './shard-leases.ts'
export { ShardedStore } from './store.ts'
