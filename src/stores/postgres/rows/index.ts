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
export { atDesk, Desk, noticeOf, type Office, SHARDS_NOTICE } from './write-batch.ts'
