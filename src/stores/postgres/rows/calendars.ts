import { type Alarm, type Context, calendarNames } from '../../../alarm/index.ts'
import { WakefulError } from '../../../error.ts'
import { type HolidayCalendar, isHolidayCalendar } from '../../../time/index.ts'
import { CorruptRow, type NewCalendar, type Values } from '../../index.ts'
import type { Dialect, Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'

/** A calendar by name. */
interface Named {
  readonly tenant: string
  readonly name: string
}

/** The calendars that this process has read. Decisions compare versions before they use one. */
export class CalendarCache {
  readonly #known = new Map<string, Map<string, HolidayCalendar>>()

  /** A tenant's calendars by name, as last read. */
  of(tenant: string): readonly HolidayCalendar[] {
    const known = [...(this.#known.get(tenant)?.values() ?? [])]
    return known.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Reads new versions, and drops deleted calendars. */
  async refresh(session: Session): Promise<void> {
    const rows = await session.rows(sql.calendarVersions)
    const names = rows.map(([tenant, name]) => ({ tenant: tenant as string, name: name as string }))
    const found = await this.#current(session, names, rows)
    this.#known.clear()
    for (const [index, calendar] of found.entries()) this.#keep(names[index]!.tenant, calendar)
  }

  /** The calendars of these names in the session's transaction; undefined for those that do not exist. */
  async named(session: Session, names: readonly Named[]): Promise<(HolidayCalendar | undefined)[]> {
    const [tenants, asked] = [names.map(({ tenant }) => tenant), names.map(({ name }) => name)]
    const rows = await session.rows(sql.calendarVersionsNamed, tenants, asked)
    const there = rows.map(([tenant, name]) => ({ tenant: tenant as string, name: name as string }))
    const found = await this.#current(session, there, rows)
    for (const [index, calendar] of found.entries()) this.#keep(there[index]!.tenant, calendar)
    const byName = new Map(there.map((each, index) => [keyOf(each), found[index]!]))
    return names.map((each) => byName.get(keyOf(each)))
  }

  /** Calendars of the current version stay the same objects, so that their days are compiled once. */
  async #current(
    session: Session,
    names: readonly Named[],
    versions: readonly Values[],
  ): Promise<HolidayCalendar[]> {
    const known = names.map(({ tenant, name }, index) => {
      const calendar = this.#known.get(tenant)?.get(name)
      return calendar?.version === versions[index]![2] ? calendar : undefined
    })
    const missing = names.filter((_, index) => known[index] === undefined)
    if (missing.length === 0) return known as HolidayCalendar[]
    const rows = await session.rows(
      sql.calendarsNamed,
      missing.map(({ tenant }) => tenant),
      missing.map(({ name }) => name),
    )
    const read = new Map(
      rows.map((row) => [keyOf({ tenant: row[0] as string, name: row[1] as string }), calendarOf(row)]),
    )
    return names.flatMap((each, index) => known[index] ?? read.get(keyOf(each)) ?? [])
  }

  #keep(tenant: string, calendar: HolidayCalendar): void {
    const known = this.#known.get(tenant) ?? new Map<string, HolidayCalendar>()
    // A reader with an older snapshot may bring an older version.
    if (calendar.version >= (known.get(calendar.name)?.version ?? 0)) known.set(calendar.name, calendar)
    this.#known.set(tenant, known)
  }
}

function keyOf({ tenant, name }: Named): string {
  return `${name} ${tenant}`
}

function calendarOf([, name, version, dates, weekend]: Values): HolidayCalendar {
  const calendar: unknown = {
    name,
    version,
    dates: JSON.parse(dates as string),
    weekend: JSON.parse(weekend as string),
  }
  if (isHolidayCalendar(calendar)) return calendar
  throw new CorruptRow(`its calendar ${String(name)} is none: put it again`)
}

const caches = new WeakMap<Dialect, CalendarCache>()

/** The cache of a store. */
export function calendarCacheOf({ dialect }: Pick<Session, 'dialect'>): CalendarCache {
  const cache = caches.get(dialect) ?? new CalendarCache()
  caches.set(dialect, cache)
  return cache
}

/**
 * Alarms with the calendars that their rules name, as of this transaction. Its lock on the table lasts until the
 * transaction ends, and an edit of a calendar waits for it: so no decision by an older calendar is written after the
 * review of the edit.
 */
export async function withCalendars<A extends Alarm>(
  session: Session,
  alarms: readonly A[],
): Promise<readonly A[]> {
  const names = new Map(alarms.flatMap(namesOf).map((each) => [keyOf(each), each]))
  if (names.size === 0) return alarms
  const asked = [...names.values()]
  const found = await calendarCacheOf(session).named(session, asked)
  const byName = new Map(asked.map((each, index) => [keyOf(each), found[index]]))
  return alarms.map((alarm) => {
    const own = namesOf(alarm)
    return own.length === 0
      ? alarm
      : { ...alarm, calendars: own.flatMap((each) => byName.get(keyOf(each)) ?? []) }
  })
}

function namesOf(alarm: Alarm): Named[] {
  return calendarNames(alarm).map((name) => ({ tenant: alarm.tenant, name }))
}

/** Refuses alarms whose instants were computed with calendars that have changed since. */
export async function assertCalendars(session: Session, alarms: readonly Alarm[]): Promise<void> {
  const naming = alarms.filter((alarm) => namesOf(alarm).length > 0)
  const current = await withCalendars(session, naming)
  for (const [index, { calendars }] of naming.entries()) {
    const now = current[index]!.calendars
    const isSame =
      calendars.length === now.length && calendars.every((each, i) => each.version === now[i]!.version)
    if (isSame && namesOf(naming[index]!).length === now.length) continue
    throw new WakefulError('calendar.changed', { name: null })
  }
}

/** Writes a calendar; the same days again are no edit. Waits for open transactions that have read one. */
export async function putCalendar(
  session: Session,
  tenant: string,
  calendar: NewCalendar,
  context: Context,
): Promise<HolidayCalendar> {
  await session.plain(sql.lockCalendars)
  const named = [{ tenant, name: calendar.name }]
  const [before] = await calendarCacheOf(session).named(session, named)
  const [dates, weekend] = [JSON.stringify(calendar.dates), JSON.stringify(calendar.weekend)]
  if (
    before !== undefined &&
    JSON.stringify(before.dates) === dates &&
    JSON.stringify(before.weekend) === weekend
  )
    return before
  const version = Number((await session.row(sql.nextCalendarVersion))![0])
  await session.run(sql.putCalendar, tenant, calendar.name, dates, weekend, version, context.now)
  return { ...calendar, version }
}

/** Deletes a calendar that no live alarm names; false if there is none. */
export async function removeCalendar(session: Session, tenant: string, name: string): Promise<boolean> {
  await session.plain(sql.lockCalendars)
  const naming = await session.row(sql.liveAlarmNaming, tenant, name)
  if (naming !== undefined) {
    throw new WakefulError('calendar.in_use', { alarm: String(naming[0]), name })
  }
  return (await session.run(sql.removeCalendar, tenant, name)) > 0
}
