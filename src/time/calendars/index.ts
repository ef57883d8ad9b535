export { endedNotes, lastDate } from './calendar-end.ts'
export { type DaysOff, TEN_YEARS_DAYS } from './days-off.ts'
export {
  assertOpenWeek,
  type CalendarLookup,
  daysOffOf,
  type ExcludeGiven,
  type Exclusion,
  isExclusion,
  readExclude,
  readNames,
} from './exclusion.ts'
export { exclusionWords, listed } from './exclusion-description.ts'
export {
  type CalendarGiven,
  type HolidayCalendar,
  isCalendarName,
  isHolidayCalendar,
  readCalendar,
} from './holiday-calendar.ts'
export { landingOf, movedNote } from './moved-day.ts'
export { givenOf, settled, unite, workingDaysOff, workingWeekend } from './working-days.ts'
