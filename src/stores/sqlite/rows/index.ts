export {
  apply,
  applyTaken,
  insertAlarm,
  insertTimer,
  putOutcome,
  retarget,
  type WriteContext,
} from './apply.ts'
export {
  assertCalendars,
  CALENDAR_QUERIES,
  calendarNamed,
  calendarsOf,
  putCalendar,
  withCalendars,
} from './calendars.ts'
export { quarantine } from './quarantine.ts'
export {
  alarmAt,
  alarmNamed,
  type FlightRow,
  type Flights,
  flightTimers,
  readFlights,
  type StoredSnapshot,
  snapshotOf,
  timersOf,
} from './snapshots.ts'
