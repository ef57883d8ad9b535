/** What an alarm is, its states, what may happen to it, and how it is shown. Pure. */

export { RawJson, rawJson } from '../json/index.ts'
export {
  amend,
  assertSeen,
  type CancelOutcome,
  cancel,
  fireNow,
  pause,
  replace,
  resume,
  retry,
  skipNext,
} from './decisions/edit.ts'
export { lateness } from './decisions/event-records.ts'
export { type Beginning, firstTimer } from './decisions/recurrence.ts'
export { type Report, report } from './decisions/report.ts'
export { review } from './decisions/review.ts'
export { type DeliveryOutcome, type Held, settle } from './decisions/settle.ts'
export { type Triage, triage, type Verdict } from './decisions/triage.ts'
export { assertText, DEFAULT_LIMITS, type Limits, utf8Length } from './fields/limits.ts'
export { isTraceparent } from './fields/traceparent.ts'
export {
  type Ack,
  type Alarm,
  type Backoff,
  calendarNames,
  NO_CALENDARS,
  type Overlap,
  originOf,
  recurs,
  type Scope,
  type Target,
  targetKey,
} from './model/alarm.ts'
export {
  ALARM_OPTIONS,
  type AlarmDefaults,
  type BuildContext,
  buildAlarm,
  DEFAULTS,
  editedFields,
  namedBy,
  type SetOptions,
  type TargetSpec,
} from './model/build.ts'
export type { Change, Context, Snapshot, TimerMove } from './model/change.ts'
export {
  type AlarmEventType,
  EVENT_TYPES,
  type EventDraft,
  eventJson,
  isFire,
  type Origin,
  SKIP_REASONS,
} from './model/event.ts'
export { type IdMaker, idMaker } from './model/id.ts'
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
} from './model/lifecycle.ts'
export { type Bucket, bucketOf, type Outcome, stateOf, type Tally } from './model/outcome.ts'
export { assertPoolsFit, BUILT_IN_POOL, DEFAULT_POOL, POOLS_MAX } from './model/pools.ts'
export { bySerial, LAST_SERIAL, type Serial, serialOf, stepped } from './model/serial.ts'
export {
  type EarlyReport,
  type NewTimer,
  occurrenceId,
  type Timer,
  type TimerKind,
  type Waiting,
} from './model/timer.ts'
export { type AlarmView, readPayload, viewOf } from './views/view.ts'
export { type Story, type StoryLine, skippedText, why } from './views/why.ts'
export { wireJson } from './views/wire.ts'
