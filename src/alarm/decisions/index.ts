/** What each call, delivery and report changes, as pure functions from a snapshot to a change. */

export {
  amend,
  assertCurrent,
  type CancelOutcome,
  cancel,
  fireNow,
  pause,
  replace,
  resume,
  retry,
  skipNext,
} from './edit.ts'
export { lateness } from './event-records.ts'
export { review } from './recurrence.ts'
export { type Report, report } from './report.ts'
export { type DeliveryOutcome, type LoadedTimer, settle } from './settle.ts'
export { type Decision, type TriageFacts, triage } from './triage.ts'
