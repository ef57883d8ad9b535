/** Parses a when into a rule, and finds the instants of a rule. Pure: the present is always a parameter. */

import '../errors/node-version.ts'

export {
  type CalendarInput,
  type CalendarLookup,
  type DaysOff,
  daysOffOf,
  type ExcludeInput,
  type Exclusion,
  type HolidayCalendar,
  isHolidayCalendar,
  lastDate,
  readCalendar,
  splitDayNames,
} from './calendars/index.ts'
export { type Clock, JumpTolerantClock, Yielder } from './clock/index.ts'
export {
  type BackoffOptions,
  backoff,
  durationOf,
  formatDuration,
  humanizeDuration,
  parseDuration,
  WHEN_OPTIONS,
} from './durations/index.ts'
export {
  countBetween,
  daysOffBetween,
  endOfDay,
  followingOccurrence,
  type InstantCount,
  isOnDayOff,
  lastOnWorkingDay,
  type NextOccurrence,
  nthAfter,
  occurrenceAfter,
  occurrenceFrom,
} from './occurrences/index.ts'
export { assertPhraseSettings, DEFAULT_TIMES, type PhraseSettings, parseBound } from './phrases/index.ts'
export {
  applyZoneData,
  describe,
  describeMisfire,
  describeTimes,
  isRule,
  jitter,
  type Misfire,
  parseRule,
  type RecurringRule,
  type Rule,
  type Schedule,
  scheduleOf,
  wakeTime,
  zoneOffsetOf,
} from './rules/index.ts'
export { closest } from './text/index.ts'
export {
  type DstInput,
  type MisfireInput,
  type Parsed,
  type Preview,
  type PreviewedInstant,
  parse,
  preview,
  type Resolved,
  resolveReschedule,
  resolveSince,
  resolveWhen,
  ruleOptions,
  shortestPeriod,
  type When,
  type WhenContext,
  type WhenObject,
} from './when/index.ts'
export {
  assertTimezone,
  type DstPolicy,
  formatInstant,
  formatLocal,
  INSTANT_MAX,
  INSTANT_MIN,
  type Moment,
  parseInstant,
} from './zones/index.ts'
