export {
  apply,
  applyClaimed,
  insertAlarm,
  insertTimer,
  putOutcome,
  retarget,
  type WriteContext,
  writeTallies,
} from './apply.ts'
export {
  assertCalendars,
  CALENDAR_QUERIES,
  calendarNamed,
  calendarsOf,
  putCalendar,
  withCalendars,
} from './calendars.ts'
export { isolated, quarantine } from './quarantine.ts'
export {
  alarmAt,
  alarmNamed,
  batchTimers,
  type InFlight,
  type InFlightBatchRow,
  readInFlight,
  type StoredSnapshot,
  snapshotOf,
  timersOf,
} from './snapshots.ts'
