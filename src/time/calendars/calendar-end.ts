import { formatDay, localDay } from '../zones/index.ts'
import type { CalendarLookup, Exclusion } from './exclusion.ts'
import type { HolidayCalendar } from './holiday-calendar.ts'

/** The last date of a calendar; null where it has none. */
export function lastDate({ dates }: Pick<HolidayCalendar, 'dates'>): string | null {
  let last: string | null = null
  for (const date of Object.keys(dates)) if (last === null || date > last) last = date
  return last
}

/** Says which of the calendars that are named has come to its end before this instant: "company has no dates after …". */
export function expiredCalendarNotes(
  { calendars = [] }: Exclusion,
  find: CalendarLookup | undefined,
  zone: string,
  at: number,
): string[] {
  const today = formatDay(localDay(zone, at))
  return calendars.flatMap((name) => {
    const calendar = find?.(name)
    const last = calendar === undefined ? null : lastDate(calendar)
    return last === null || last >= today ? [] : [`${name} has no dates after ${last}`]
  })
}
