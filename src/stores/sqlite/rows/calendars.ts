import type { Alarm } from '../../../alarm/index.ts'
import { WakefulError } from '../../../error.ts'
import { type HolidayCalendar, isHolidayCalendar } from '../../../time/index.ts'
import { CorruptRow, type NewCalendar } from '../../index.ts'
import type { Session } from '../connection/index.ts'
import type { WriteContext } from './apply.ts'

/** The statements about calendars: few rows, seldom written. */
export const CALENDAR_QUERIES = {
  version: 'SELECT version FROM wakeful_calendars WHERE tenant = ? AND name = ?',
  named: 'SELECT name, version, dates, weekend FROM wakeful_calendars WHERE tenant = ? AND name = ?',
  ofTenant: 'SELECT name FROM wakeful_calendars WHERE tenant = ? ORDER BY name',
  put: `INSERT INTO wakeful_calendars (tenant, name, version, reviewed_version, dates, weekend, updated_at)
    VALUES (?1, ?2, ?5, ?5, ?3, ?4, ?6) ON CONFLICT (tenant, name) DO UPDATE SET version = excluded.version,
    dates = excluded.dates, weekend = excluded.weekend, updated_at = excluded.updated_at`,
  remove: 'DELETE FROM wakeful_calendars WHERE tenant = ? AND name = ?',
  unreviewed: 'SELECT tenant, name, version FROM wakeful_calendars WHERE reviewed_version < version',
  markReviewed:
    'UPDATE wakeful_calendars SET reviewed_version = max(reviewed_version, min(version, ?)) WHERE tenant = ? AND name = ?',
  unreview: 'UPDATE wakeful_calendars SET reviewed_version = 0 WHERE tenant = ?',
  all: 'SELECT tenant, name FROM wakeful_calendars ORDER BY tenant, name',
  fact: 'SELECT value FROM wakeful_meta WHERE name = ?',
  putFact:
    'INSERT INTO wakeful_meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
} as const

/** The fact that counts the edits of calendars. */
const VERSION = 'calendar_version'

interface CalendarRow {
  readonly name: string
  readonly version: number
  readonly dates: string
  readonly weekend: string
}

/** Compiled calendars, by connection, tenant and name: every alarm under one asks for the same. */
const known = new WeakMap<Session, Map<string, HolidayCalendar>>()

/** Reads a calendar; what was read before is used again while its version is the same. */
export function calendarNamed(session: Session, tenant: string, name: string): HolidayCalendar | undefined {
  const row = session.get<{ version: number }>(CALENDAR_QUERIES.version, tenant, name)
  if (row === undefined) return undefined
  const kept = known.get(session) ?? new Map<string, HolidayCalendar>()
  known.set(session, kept)
  const key = `${tenant}\0${name}`
  const before = kept.get(key)
  if (before?.version === row.version) return before
  const calendar = calendarOf(session.get<CalendarRow>(CALENDAR_QUERIES.named, tenant, name)!)
  kept.set(key, calendar)
  return calendar
}

function calendarOf({ name, version, dates, weekend }: CalendarRow): HolidayCalendar {
  const calendar: unknown = { name, version, dates: JSON.parse(dates), weekend: JSON.parse(weekend) }
  if (isHolidayCalendar(calendar)) return calendar
  throw new CorruptRow(`its calendar ${name} is none: put it again`)
}

/** The alarm with the calendars its rule names, as they stand in this transaction. */
export function withCalendars<A extends Alarm>(session: Session, alarm: A): A {
  const names = alarm.rule.kind === 'once' ? undefined : alarm.rule.exclude?.calendars
  if (names === undefined) return alarm
  return { ...alarm, calendars: names.flatMap((name) => calendarNamed(session, alarm.tenant, name) ?? []) }
}

/** Refuses an alarm whose instants were found with calendars that are no longer the newest. */
export function assertCalendars(session: Session, alarm: Alarm): void {
  const names = alarm.rule.kind === 'once' ? [] : (alarm.rule.exclude?.calendars ?? [])
  for (const name of names) {
    const found = alarm.calendars.find((calendar) => calendar.name === name)
    if (found !== undefined && calendarNamed(session, alarm.tenant, name)?.version === found.version) continue
    throw new WakefulError('calendar.changed', { name })
  }
}

/** Reads a tenant's calendars, by name. */
export function calendarsOf(session: Session, tenant: string): HolidayCalendar[] {
  const names = session.all<{ name: string }>(CALENDAR_QUERIES.ofTenant, tenant)
  return names.flatMap(({ name }) => calendarNamed(session, tenant, name) ?? [])
}

/** Writes a calendar; the same days again are no edit. */
export function putCalendar(
  { session, context }: WriteContext,
  tenant: string,
  given: NewCalendar,
): HolidayCalendar {
  const before = calendarNamed(session, tenant, given.name)
  const [dates, weekend] = [JSON.stringify(given.dates), JSON.stringify(given.weekend)]
  if (
    before !== undefined &&
    JSON.stringify(before.dates) === dates &&
    JSON.stringify(before.weekend) === weekend
  )
    return before
  // Versions grow over all calendars: one that was removed and put anew is never taken for what it was.
  const version = Number(session.get<{ value: string }>(CALENDAR_QUERIES.fact, VERSION)?.value ?? 0) + 1
  session.run(CALENDAR_QUERIES.putFact, VERSION, String(version))
  session.run(CALENDAR_QUERIES.put, tenant, given.name, dates, weekend, version, context.now)
  return calendarNamed(session, tenant, given.name)!
}
