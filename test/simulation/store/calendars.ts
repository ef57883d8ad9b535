import { type Alarm, calendarNames } from '../../../src/alarm/index.ts'
import { WakefulError } from '../../../src/error.ts'
import type { EditedCalendar, NewCalendar } from '../../../src/stores/index.ts'
import type { HolidayCalendar } from '../../../src/time/index.ts'
import type { SimulatedDatabase } from './database.ts'
import type { CalendarRow } from './tables.ts'

/** The fact that counts the edits of calendars. */
const VERSION = 'calendar_version'

/** The calendar with this name, or undefined. */
export function calendarNamed(
  { tables }: SimulatedDatabase,
  tenant: string,
  name: string,
): HolidayCalendar | undefined {
  return tables.calendars.get(keyOf(tenant, name))?.calendar
}

/** All calendars, by tenant and name. */
export function allCalendars({ tables }: SimulatedDatabase): CalendarRow[] {
  const nameOf = ({ tenant, calendar }: CalendarRow) => keyOf(tenant, calendar.name)
  return tables.calendars.values().sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
}

/** Rejects an alarm whose instants were computed with outdated calendars. */
export function assertCalendars(database: SimulatedDatabase, alarm: Alarm): void {
  for (const name of calendarNames(alarm)) {
    const found = alarm.calendars.find((calendar) => calendar.name === name)
    const newest = calendarNamed(database, alarm.tenant, name)
    if (found !== undefined && newest?.version === found.version) continue
    throw new WakefulError('calendar.changed', { name })
  }
}

/** Writes a calendar. Writing the same days again is not an edit. */
export function putCalendar(
  { tables }: SimulatedDatabase,
  tenant: string,
  input: NewCalendar,
): HolidayCalendar {
  const key = keyOf(tenant, input.name)
  const before = tables.calendars.get(key)
  if (before !== undefined && daysIn(before.calendar) === daysIn(input)) return before.calendar
  // Versions grow over all calendars, so a calendar that is removed and written anew never has an old version.
  const version = Number(tables.facts.get(VERSION) ?? 0) + 1
  tables.facts.put(VERSION, String(version))
  const calendar = { ...input, version }
  tables.calendars.put(key, { tenant, calendar, recomputed: before?.recomputed ?? version })
  return calendar
}

/** Deletes a calendar that no live alarm uses. Returns false if there is none. */
export function removeCalendar({ tables }: SimulatedDatabase, tenant: string, name: string): boolean {
  for (const alarm of tables.alarms.values()) {
    const isLive = alarm.tenant === tenant && tables.timersOfAlarm.in(alarm.seq).length > 0
    if (isLive && calendarNames(alarm).includes(name))
      throw new WakefulError('calendar.in_use', { alarm: alarm.id, name })
  }
  return tables.calendars.remove(keyOf(tenant, name))
}

/** Edited calendars whose alarms have not all been computed again. */
export function calendarsToRecompute({ tables }: SimulatedDatabase): EditedCalendar[] {
  return tables.calendars
    .values()
    .filter(({ calendar, recomputed }) => recomputed < calendar.version)
    .map(({ tenant, calendar: { name, version } }) => ({ tenant, name, version }))
}

/** Records the calendar version that its alarms use. */
export function markRecomputed(
  { tables }: SimulatedDatabase,
  tenant: string,
  name: string,
  version: number,
): void {
  const row = tables.calendars.get(keyOf(tenant, name))
  if (row === undefined) return
  const recomputed = Math.max(row.recomputed, Math.min(row.calendar.version, version))
  tables.calendars.put(keyOf(tenant, name), { ...row, recomputed })
}

function keyOf(tenant: string, name: string): string {
  return JSON.stringify([tenant, name])
}

function daysIn({ dates, weekend }: NewCalendar): string {
  return JSON.stringify([dates, weekend])
}
