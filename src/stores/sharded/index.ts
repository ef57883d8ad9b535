/** The protocol by which several processes share the shards of one database. */
export { DatabaseClock } from './database-clock.ts'
export { type Beat, beatOf, type Other, overdueMs, type SeenShard, Sightings } from './heartbeat.ts'
export {
  earliestOf,
  lowerTo,
  NextWakeCache,
  type NextWakes,
  type Position,
  RECENT_MS,
  Scan,
} from './next-wake-cache.ts'
export { Retirement } from './retirement.ts'
export { moveIn } from './shard-balance.ts'
