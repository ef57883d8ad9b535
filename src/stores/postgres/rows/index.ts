export { apply, applyRest } from './apply.ts'
export { assertCalendars, putCalendar, removeCalendar, shelfOf, withCalendars } from './calendars.ts'
export { lockSnapshots } from './locks.ts'
export { insertAlarms, insertAlarmsAndFigures } from './new-alarms.ts'
export { type Damaged, quarantine } from './quarantine.ts'
export { columns, placeValues } from './row-writes.ts'
export { readShards, ShardMap } from './shard-map.ts'
export {
  alarmNamed,
  flightsIn,
  flightTimers,
  readSnapshots,
  type Snapshots,
  type StoredSnapshot,
  snapshotIn,
} from './snapshots.ts'
export { inWriteBatch, type StoreContext, WriteBatch } from './write-batch.ts'
