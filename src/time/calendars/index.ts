export { expiredCalendarNotes, lastDate } from './calendar-end.ts'
export { type DaysOff, SEARCH_DAYS_MAX } from './days-off.ts'
export {
  assertWorkingWeekday,
  type CalendarLookup,
  daysOffOf,
  type ExcludeInput,
  type Exclusion,
  isExclusion,
  readExclude,
  splitDayNames,
} from './exclusion.ts'
export { describeExclusion, joinWithAnd } from './exclusion-description.ts'
export {
  type CalendarInput,
  type HolidayCalendar,
  isCalendarName,
  isHolidayCalendar,
  readCalendar,
} from './holiday-calendar.ts'
export { movedDay, movedNote } from './moved-day.ts'
export {
  mergeExclusions,
  nonWorkingDays,
  toExcludeInput,
  withWorkingWeekend,
  workingWeekend,
} from './working-days.ts'
