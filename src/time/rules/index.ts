export { describe, describeDst, describeJitter, describeMisfire, describeTimes } from './describe.ts'
export { isRule, JITTER_MS_MAX, type Misfire, parseRule, type RecurringRule, type Rule } from './rule.ts'
export { instantsOf, intervalOf, type Schedule, scheduleOf } from './schedule.ts'
export { applyZoneData, jitter, wakeTime, zoneOffsetOf } from './wake-time.ts'
