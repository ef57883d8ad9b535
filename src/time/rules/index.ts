export { describe, describeDst, describeJitter, describeMisfire, describeTimes } from './describe.ts'
export * from './rule.ts'
export { instantsOf, intervalOf, type Schedule, scheduleOf } from './schedule.ts'
export { applyZoneData, jitter, wakeTime, zoneOffsetOf } from './wake-time.ts'
