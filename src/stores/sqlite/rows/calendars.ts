import { type Alarm, calendarNames } from '../../../alarm/index.ts'
import { WakefulError } from '../../../error.ts'
import type { HolidayCalendar } from '../../../time/index.ts'
import { calendarOf, hasSameDays, type NewCalendar } from '../../index.ts'
import type { Session } from '../connection/index.ts'
import type { RowWrites } from './row-writes.ts'

/** The statements about calendars and `meta`: few rows, rarely written. */
export const CALENDAR_QUERIES = {
  version: 'SELECT version FROM wakeful_calendars WHERE tenant = ? AND name = ?',
  named: 'SELECT name, version, dates, weekend FROM wakeful_calendars WHERE tenant = ? AND name = ?',
  ofTenant: 'SELECT name FROM wakeful_calendars WHERE tenant = ? ORDER BY name',
  put: `INSERT INTO wakeful_calendars (tenant, name, version, reviewed_version, dates, weekend, updated_at)
    VALUES (?1, ?2, ?5, ?5, ?3, ?4, ?6) ON CONFLICT (tenant, name) DO UPDATE SET version = excluded.version,
    dates = excluded.dates, weekend = excluded.weekend, updated_at = excluded.updated_at`,
  remove: 'DELETE FROM wakeful_calendars WHERE tenant = ? AND name = ?',
  toRecompute: 'SELECT tenant, name, version FROM wakeful_calendars WHERE reviewed_version < version',
  markRecomputed:
    'UPDATE wakeful_calendars SET reviewed_version = max(reviewed_version, min(version, ?)) WHERE tenant = ? AND name = ?',
  unmarkRecomputed: 'UPDATE wakeful_calendars SET reviewed_version = 0 WHERE tenant = ?',
  all: 'SELECT tenant, name FROM wakeful_calendars ORDER BY tenant, name',
  meta: 'SELECT value FROM wakeful_meta WHERE name = ?',
  putMeta:
    'INSERT INTO wakeful_meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
} as const

/** Counts the edits of all calendars. */
const VERSION_META = 'calendar_version'

/** Parsed calendars by connection, tenant and name, because many alarms use the same one. */
const parsed = new WeakMap<Session, Map<string, HolidayCalendar>>()

/** Reads a calendar; parses it again only if its version has changed. */
export function calendarNamed(session: Session, tenant: string, name: string): HolidayCalendar | undefined {
  const row = session.get<{ version: number }>(CALENDAR_QUERIES.version, tenant, name)
  if (row === undefined) return undefined
  const calendars = parsed.get(session) ?? new Map<string, HolidayCalendar>()
  parsed.set(session, calendars)
  const key = `${tenant}\0${name}`
  const before = calendars.get(key)
  if (before?.version === row.version) return before
  const calendar = calendarOf(session.value(CALENDAR_QUERIES.named, tenant, name)!)
  calendars.set(key, calendar)
  return calendar
}

/** The alarm with the calendars that its rule names, as of this transaction. */
export function withCalendars<A extends Alarm>(session: Session, alarm: A): A {
  const names = calendarNames(alarm)
  if (names.length === 0) return alarm
  return { ...alarm, calendars: names.flatMap((name) => calendarNamed(session, alarm.tenant, name) ?? []) }
}

/** Refuses an alarm whose instants were computed with an older version of a calendar. */
export function assertCalendars(session: Session, alarm: Alarm): void {
  for (const name of calendarNames(alarm)) {
    const found = alarm.calendars.find((calendar) => calendar.name === name)
    if (found !== undefined && calendarNamed(session, alarm.tenant, name)?.version === found.version) continue
    throw new WakefulError('calendar.changed', {})
  }
}

/** Reads a tenant's calendars, by name. */
export function calendarsOf(session: Session, tenant: string): HolidayCalendar[] {
  const names = session.all<{ name: string }>(CALENDAR_QUERIES.ofTenant, tenant)
  return names.flatMap(({ name }) => calendarNamed(session, tenant, name) ?? [])
}

/** Writes a calendar; if its days are unchanged, writes nothing. */
export function putCalendar(
  { session, context }: RowWrites,
  tenant: string,
  calendar: NewCalendar,
): HolidayCalendar {
  const before = calendarNamed(session, tenant, calendar.name)
  if (before !== undefined && hasSameDays(before, calendar)) return before
  // Versions grow over all calendars, so that one that was removed and created again never has an earlier version.
  const version = nextVersion(session, VERSION_META)
  const days = [JSON.stringify(calendar.dates), JSON.stringify(calendar.weekend)]
  session.run(CALENDAR_QUERIES.put, tenant, calendar.name, ...days, version, context.now)
  return calendarNamed(session, tenant, calendar.name)!
}

/** Reads a value about the store as a whole. */
export function metaOf(session: Session, name: string): string | null {
  return session.get<{ value: string }>(CALENDAR_QUERIES.meta, name)?.value ?? null
}

/** Writes a value about the store as a whole. */
export function putMeta(session: Session, name: string, value: string): void {
  session.run(CALENDAR_QUERIES.putMeta, name, value)
}

/** Increases a counter in `meta`. */
export function nextVersion(session: Session, name: string): number {
  const version = Number(metaOf(session, name) ?? 0) + 1
  putMeta(session, name, String(version))
  return version
}
