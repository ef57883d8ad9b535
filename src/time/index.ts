/** When is the next instant? Pure: the present is always passed in. */
export { type BackoffOptions, backoff } from './backoff.ts'
export { lastDate } from './calendar-end.ts'
export type { Clock } from './clock.ts'
export { closest } from './closest.ts'
export { type Counted, countBetween } from './count-between.ts'
export { daysOffBetween } from './day-off-notes.ts'
export type { DaysOff } from './days-off.ts'
export { describe } from './describe.ts'
export type { DstPolicy } from './dst.ts'
export { formatDuration, parseDuration } from './duration.ts'
export {
  type CalendarLookup,
  daysOffOf,
  type ExcludeGiven,
  type Exclusion,
  readNames,
} from './exclusion.ts'
export {
  type CalendarGiven,
  type HolidayCalendar,
  isHolidayCalendar,
  readCalendar,
} from './holiday-calendar.ts'
export { formatInstant, INSTANT_MAX, INSTANT_MIN, parseInstant } from './instant.ts'
export { jitter, wakeTime } from './jitter.ts'
export { resolveAgain, ruleOptions } from './kept-options.ts'
export { type Parsed, parse } from './parse.ts'
export { readMoment } from './phrase-moment.ts'
export { type Preview, type PreviewedInstant, preview } from './preview.ts'
export { isRule, type Misfire, type RecurringRule, type Rule } from './rule.ts'
export { readRule } from './rule-text.ts'
export { ScepticalClock } from './sceptical-clock.ts'
export { type Schedule, scheduleOf } from './schedule.ts'
export { resolveSince } from './since.ts'
export { span } from './span.ts'
export {
  endOfDay,
  isDayOff,
  lastOpen,
  type Standing,
  standingAfter,
  standingFrom,
  standingNext,
} from './standing.ts'
export { assertTimezone } from './timezone.ts'
export { Turns } from './turns.ts'
export {
  type Moment,
  type Resolved,
  resolveWhen,
  type When,
  type WhenContext,
  type WhenObject,
} from './when.ts'
export type { DstGiven, MisfireGiven } from './when-options.ts'
export { rezone, zoneOffsetOf } from './zone-data.ts'
