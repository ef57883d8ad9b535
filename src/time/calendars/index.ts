export { type DaysOff, movedDay, SEARCH_DAYS_MAX } from './days-off.ts'
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
export { describeExclusion, expiredCalendarNotes, movedNote } from './exclusion-description.ts'
export {
  type CalendarInput,
  type HolidayCalendar,
  isCalendarName,
  isHolidayCalendar,
  lastDate,
  readCalendar,
} from './holiday-calendar.ts'
export {
  mergeExclusions,
  nonWorkingDays,
  toExcludeInput,
  weekendForWorkingDays,
  withStoredWeekend,
} from './working-days.ts'
