/** When is the next instant? Pure: the present is always passed in. */
export { type BackoffOptions, backoff } from './durations/backoff.ts'
export { lastDate } from './calendars/calendar-end.ts'
export type { Clock } from './clock/clock.ts'
export { closest } from './text/closest.ts'
export { type Counted, countBetween } from './occurrences/count-between.ts'
export { daysOffBetween } from './occurrences/day-off-notes.ts'
export type { DaysOff } from './calendars/days-off.ts'
export { describe } from './rules/describe.ts'
export type { DstPolicy } from './zones/dst.ts'
export { formatDuration, parseDuration } from './durations/duration.ts'
export {
  type CalendarLookup,
  daysOffOf,
  type ExcludeGiven,
  type Exclusion,
  readNames,
} from './calendars/exclusion.ts'
export {
  type CalendarGiven,
  type HolidayCalendar,
  isHolidayCalendar,
  readCalendar,
} from './calendars/holiday-calendar.ts'
export { formatInstant, INSTANT_MAX, INSTANT_MIN, parseInstant } from './zones/instant.ts'
export { jitter, wakeTime } from './rules/jitter.ts'
export { resolveAgain, ruleOptions } from './when/kept-options.ts'
export { type Parsed, parse } from './when/parse.ts'
export { readMoment } from './phrases/moment.ts'
export { type Preview, type PreviewedInstant, preview } from './preview/preview.ts'
export { isRule, type Misfire, type RecurringRule, type Rule } from './rules/rule.ts'
export { readRule } from './rules/rule-text.ts'
export { ScepticalClock } from './clock/jump-tolerant-clock.ts'
export { type Schedule, scheduleOf } from './rules/schedule.ts'
export { resolveSince } from './when/since.ts'
export { span } from './durations/span.ts'
export {
  endOfDay,
  isDayOff,
  lastOpen,
  type Standing,
  standingAfter,
  standingFrom,
  standingNext,
} from './occurrences/next-occurrence.ts'
export { assertTimezone } from './zones/timezone.ts'
export { Turns } from './clock/yielding.ts'
export {
  type Moment,
  type Resolved,
  resolveWhen,
  type When,
  type WhenContext,
  type WhenObject,
} from './when/when.ts'
export type { DstGiven, MisfireGiven } from './when/options.ts'
export { rezone, zoneOffsetOf } from './rules/zone-data.ts'
