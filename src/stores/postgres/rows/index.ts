export { assertCalendars, calendarCacheOf, putCalendar, removeCalendar, withCalendars } from './calendars.ts'
export { type Damaged, inSavepoint, quarantine } from './quarantine.ts'
export { readShards, ShardMap } from './shard-map.ts'
export {
  batchTimers,
  inFlightIn,
  lockSnapshots,
  readSnapshots,
  type Snapshots,
  seqNamed,
  seqsNamed,
  snapshotIn,
} from './snapshots.ts'
export { type StoreContext, type Write, WriteBatch } from './write-batch.ts'
