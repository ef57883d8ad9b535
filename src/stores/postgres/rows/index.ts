export { apply, applyRest } from './apply.ts'
export { assertCalendars, calendarCacheOf, putCalendar, removeCalendar, withCalendars } from './calendars.ts'
export { lockSnapshots } from './locks.ts'
export { insertAlarms, insertAlarmsAndFigures } from './new-alarms.ts'
export { type Damaged, quarantine } from './quarantine.ts'
export { columns, positionValues } from './row-writes.ts'
export { readShards, ShardMap } from './shard-map.ts'
export {
  alarmNamed,
  batchTimers,
  inFlightIn,
  readSnapshots,
  type Snapshots,
  type StoredSnapshot,
  snapshotIn,
} from './snapshots.ts'
export { inWriteBatch, type StoreContext, WriteBatch } from './write-batch.ts'
