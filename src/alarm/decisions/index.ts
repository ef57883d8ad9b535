/** What each call, delivery and report changes, as pure functions from a snapshot to a change. */

export { isSameRule } from './definition.ts'
export * from './edit.ts'
export * from './event-records.ts'
export * from './recurrence.ts'
export * from './report.ts'
export * from './set-again.ts'
export * from './settle.ts'
export * from './triage.ts'
