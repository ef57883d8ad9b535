import { type Alarm, type Context, calendarNames } from '../../../alarm/index.ts'
import { WakefulError } from '../../../error.ts'
import type { HolidayCalendar } from '../../../time/index.ts'
import { calendarOf, hasSameDays, type NewCalendar, type Values } from '../../index.ts'
import { type Dialect, properties, type Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'

/** A calendar by name. */
interface Named {
  readonly tenant: string
  readonly name: string
}

interface Stored extends Named {
  readonly calendar: HolidayCalendar
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
    const current = await this.#current(session, await session.rows(sql.calendarVersions))
    this.#known.clear()
    this.#keep(current)
  }

  /** The calendars of these names in the session's transaction; undefined for those that do not exist. */
  async named(session: Session, names: readonly Named[]): Promise<(HolidayCalendar | undefined)[]> {
    const asked = properties(names, 'tenant', 'name')
    const current = await this.#current(session, await session.rows(sql.calendarVersionsNamed, ...asked))
    this.#keep(current)
    const byName = new Map(current.map((each) => [keyOf(each), each.calendar]))
    return names.map((each) => byName.get(keyOf(each)))
  }

  /** Calendars of the current version stay the same objects, so that their days are compiled once. */
  async #current(session: Session, versions: readonly Values[]): Promise<Stored[]> {
    const current: Stored[] = []
    const missing: Named[] = []
    for (const [tenant, name, version] of versions as [string, string, number][]) {
      const calendar = this.#known.get(tenant)?.get(name)
      if (calendar?.version === version) current.push({ tenant, name, calendar })
      else missing.push({ tenant, name })
    }
    if (missing.length === 0) return current
    const rows = await session.rows(sql.calendarsNamed, ...properties(missing, 'tenant', 'name'))
    const read = rows.map(([tenant, ...row]) => {
      const calendar = calendarOf(row)
      return { tenant: tenant as string, name: calendar.name, calendar }
    })
    return [...current, ...read]
  }

  #keep(current: readonly Stored[]): void {
    for (const { tenant, name, calendar } of current) {
      const known = this.#known.get(tenant) ?? new Map<string, HolidayCalendar>()
      // A reader with an older snapshot may bring an older version.
      if (calendar.version >= (known.get(name)?.version ?? 0)) known.set(name, calendar)
      this.#known.set(tenant, known)
    }
  }
}

function keyOf({ tenant, name }: Named): string {
  return `${name} ${tenant}`
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
 * transaction ends, and an edit of a calendar waits for it: so no decision by an older calendar is written after
 * pending instants were computed again.
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
  const versions = ({ calendars }: Alarm) => calendars.map(({ version }) => version).join()
  for (const [index, alarm] of naming.entries()) {
    const now = current[index]!
    if (versions(alarm) !== versions(now) || namesOf(alarm).length !== now.calendars.length)
      throw new WakefulError('calendar.changed', {})
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
  if (before !== undefined && hasSameDays(before, calendar)) return before
  const version = Number((await session.row(sql.nextCalendarVersion))![0])
  const days = [JSON.stringify(calendar.dates), JSON.stringify(calendar.weekend)]
  await session.run(sql.putCalendar, tenant, calendar.name, ...days, version, context.now)
  return { ...calendar, version }
}

/** Deletes a calendar that no live alarm names; false if there is none. */
export async function removeCalendar(session: Session, tenant: string, name: string): Promise<boolean> {
  await session.plain(sql.lockCalendars)
  const naming = await session.row(sql.liveAlarmNaming, tenant, name)
  if (naming !== undefined) throw new WakefulError('calendar.in_use', { alarm: String(naming[0]), name })
  return (await session.run(sql.removeCalendar, tenant, name)) > 0
}
