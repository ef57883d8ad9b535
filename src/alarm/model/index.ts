/** An alarm, its timers, its events and its lifecycle, as data. */

export { type Alarm, calendarNames, NO_CALENDARS, originOf, recurs, type Scope, targetKey } from './alarm.ts'
export { type BuildContext, buildAlarm, editedFields, namedBy } from './build.ts'
export {
  type Change,
  type Context,
  newSnapshot,
  type Snapshot,
  snapshotAfter,
  type TimerUpdate,
} from './change.ts'
export {
  type AlarmEventType,
  EVENT_TYPES,
  type EventDraft,
  eventJson,
  isFire,
  type Origin,
  SKIP_REASONS,
  type SkipReason,
} from './event.ts'
export { type IdMaker, idMaker } from './id.ts'
export {
  type Cell,
  type EndStatus,
  EVENTS,
  isEnd,
  LIFECYCLE,
  type LifecycleEvent,
  next,
  STATES,
  type State,
  type Status,
  statusOf,
  transition,
} from './lifecycle.ts'
export {
  type Bucket,
  bucketOf,
  NO_OUTCOME,
  type Outcome,
  stateOf,
  type Tally,
  tallyOf,
} from './outcome.ts'
export { assertPoolsFit, BUILT_IN_POOL, DEFAULT_POOL, POOLS_MAX } from './pools.ts'
export { bySerial, LAST_SERIAL, type Serial, serialOf, stepped } from './serial.ts'
export {
  type EarlyReport,
  FORCED_TICK,
  type NewTimer,
  occurrenceId,
  occurrenceName,
  type Timer,
  type TimerKind,
  timerAt,
  type Waiting,
} from './timer.ts'
