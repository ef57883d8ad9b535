export * from './days-off.ts'
export {
  type ExcludeInput,
  type Exclusion,
  isExclusion,
  mergeExclusions,
  readExclude,
  splitDayNames,
  toExcludeInput,
} from './exclusion.ts'
export * from './exclusion-description.ts'
export {
  type CalendarInput,
  type HolidayCalendar,
  isCalendarName,
  isHolidayCalendar,
  lastDate,
  readCalendar,
} from './holiday-calendar.ts'
