import { WakefulError } from '../error.ts'
import { type CalendarGiven, type CalendarLookup, type HolidayCalendar, readCalendar } from '../time/index.ts'
import type { Calendars, CalendarView } from './api.ts'
import { checked } from './options.ts'
import { reviewCalendar } from './reviews.ts'
import type { Surround } from './surround.ts'

const CALENDAR = { dates: true, ics: true, weekend: true } as const
const CALENDARS_MAX = 1_000

/** One tenant's holiday calendars: every owner's alarms of the tenant can name them, and no other tenant's. */
export class TenantCalendars implements Calendars {
  readonly #around: Surround
  readonly #tenant: string

  constructor(around: Surround, tenant: string) {
    this.#around = around
    this.#tenant = tenant
  }

  async put(name: string, given: CalendarGiven): Promise<CalendarView & { moved: number; notes: string[] }> {
    checked<CalendarGiven>('calendars.put', given, CALENDAR)
    const { store, context } = this.#around
    const { calendar, notes } = readCalendar(name, given, context().now)
    if (this.#find(name) === undefined && store.calendars(this.#tenant).length >= CALENDARS_MAX) {
      throw new WakefulError(
        'quota_exceeded',
        `there are ${CALENDARS_MAX} calendars already: remove one, or put more dates into another`,
      )
    }
    const stored = await store.putCalendar(this.#tenant, calendar, context())
    const edited = { tenant: this.#tenant, name, version: stored.version }
    const moved = await reviewCalendar({ store, context: () => context() }, edited)
    this.#around.hint(null)
    this.#around.bell.ring()
    return { ...viewOf(stored), moved, notes }
  }

  async get(name: string): Promise<CalendarView | null> {
    const calendar = this.#find(name)
    return calendar === undefined ? null : viewOf(calendar)
  }

  async list(): Promise<CalendarView[]> {
    return this.#around.store.calendars(this.#tenant).map(viewOf)
  }

  remove(name: string): Promise<boolean> {
    return this.#around.store.removeCalendar(this.#tenant, name)
  }

  /** Finds calendars for a *when*. */
  get lookup(): CalendarLookup {
    const find = (name: string) => this.#find(name)
    const names = () => this.#around.store.calendars(this.#tenant).map((calendar) => calendar.name)
    return Object.defineProperty(find, 'names', { get: names })
  }

  #find(name: string): HolidayCalendar | undefined {
    return this.#around.store.calendars(this.#tenant).find((calendar) => calendar.name === name)
  }
}

function viewOf({ name, dates, weekend }: HolidayCalendar): CalendarView {
  return { name, dates, weekend }
}
