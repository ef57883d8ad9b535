/** What an alarm is, its states, what may happen to it, and how it is shown. Pure. */

export { RawJson, rawJson } from '../json/index.ts'
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
} from './alarm.ts'
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
} from './build.ts'
export type { Change, Context, Snapshot, TimerMove } from './change.ts'
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
} from './edit.ts'
export {
  type AlarmEventType,
  EVENT_TYPES,
  type EventDraft,
  eventJson,
  isFire,
  type Origin,
  SKIP_REASONS,
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
} from './lifecycle.ts'
export { assertText, DEFAULT_LIMITS, type Limits, utf8Length } from './limits.ts'
export { type Bucket, bucketOf, type Outcome, stateOf, type Tally } from './outcome.ts'
export { assertPoolsFit, BUILT_IN_POOL, DEFAULT_POOL, POOLS_MAX } from './pools.ts'
export { lateness } from './record.ts'
export { type Beginning, firstTimer } from './recurrence.ts'
export { type Report, report } from './report.ts'
export { review } from './review.ts'
export { bySerial, LAST_SERIAL, type Serial, serialOf, stepped } from './serial.ts'
export { type DeliveryOutcome, type Held, settle } from './settle.ts'
export {
  type EarlyReport,
  type NewTimer,
  occurrenceId,
  type Timer,
  type TimerKind,
  type Waiting,
} from './timer.ts'
export { isTraceparent } from './traceparent.ts'
export { type Triage, triage, type Verdict } from './triage.ts'
export { type AlarmView, readPayload, viewOf } from './view.ts'
export { type Story, type StoryLine, skippedText, why } from './why.ts'
export { wireJson } from './wire.ts'
