/** When is the next instant? Pure: the present is always passed in. */

export {
  type CalendarGiven,
  type CalendarLookup,
  type DaysOff,
  daysOffOf,
  type ExcludeGiven,
  type Exclusion,
  type HolidayCalendar,
  isHolidayCalendar,
  lastDate,
  readCalendar,
  readNames,
} from './calendars/index.ts'
export { type Clock, JumpTolerantClock, Yielding } from './clock/index.ts'
export { type BackoffOptions, backoff, formatDuration, parseDuration, span } from './durations/index.ts'
export {
  type Counted,
  countBetween,
  daysOffBetween,
  endOfDay,
  isDayOff,
  lastOpen,
  type NextOccurrence,
  standingAfter,
  standingFrom,
  standingNext,
} from './occurrences/index.ts'
export { readMoment } from './phrases/index.ts'
export { type Preview, type PreviewedInstant, preview } from './preview/index.ts'
export {
  describe,
  isRule,
  jitter,
  type Misfire,
  type RecurringRule,
  type Rule,
  readRule,
  rezone,
  type Schedule,
  scheduleOf,
  wakeTime,
  zoneOffsetOf,
} from './rules/index.ts'
export { closest } from './text/index.ts'
export {
  type DstGiven,
  type MisfireGiven,
  type Moment,
  type Parsed,
  parse,
  type Resolved,
  resolveAgain,
  resolveSince,
  resolveWhen,
  ruleOptions,
  type When,
  type WhenContext,
  type WhenObject,
} from './when/index.ts'
export {
  assertTimezone,
  type DstPolicy,
  formatInstant,
  INSTANT_MAX,
  INSTANT_MIN,
  parseInstant,
} from './zones/index.ts'
