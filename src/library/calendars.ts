import { assertName, checked } from '../alarm/index.ts'
import { WakefulError } from '../error.ts'
import { type CalendarInput, type CalendarLookup, type HolidayCalendar, readCalendar } from '../time/index.ts'
import type { LibraryContext } from './context.ts'
import type { Calendars, CalendarView, PutCalendar } from './resources.ts'
import { recomputeCalendar } from './upkeep.ts'

const CALENDAR = { name: true, dates: true, ics: true, weekend: true } as const
const CALENDARS_MAX = 1_000

/** What a call makes of the calendar that was there before. */
type Reading = (before: HolidayCalendar | undefined, now: number) => ReturnType<typeof readCalendar>

/** One tenant's holiday calendars: every owner's alarms of the tenant can name them, and no other tenant's. */
export class TenantCalendars implements Calendars {
  /** Finds calendars for a *when*. */
  readonly lookup: CalendarLookup
  readonly #library: LibraryContext
  readonly #tenant: string

  constructor(library: LibraryContext, tenant: string) {
    this.#library = library
    this.#tenant = tenant
    const find = (name: string) => this.#find(name)
    this.lookup = Object.defineProperty(find, 'names', { get: () => this.#all().map(({ name }) => name) })
  }

  put(name: string, input: CalendarInput): Promise<PutCalendar> {
    checked<CalendarInput>('calendars.put', input, CALENDAR)
    return this.#write(name, (before, now) => {
      const { calendar, notes } = readCalendar(name, input, now)
      const lost = Object.keys(before?.dates ?? {}).length
      const isSame = JSON.stringify(before?.dates) === JSON.stringify(calendar.dates)
      return { calendar, notes: lost === 0 || isSame ? notes : [`replaced ${counted(lost)}`, ...notes] }
    })
  }

  add(name: string, input: CalendarInput): Promise<PutCalendar> {
    checked<CalendarInput>('calendars.add', input, CALENDAR)
    return this.#write(name, (before, now) => {
      const { calendar, notes } = readCalendar(name, input, now, before)
      const added = Object.keys(calendar.dates).length - Object.keys(before?.dates ?? {}).length
      return { calendar, notes: before === undefined ? notes : [`added ${counted(added)}`, ...notes] }
    })
  }

  #write(name: string, read: Reading): Promise<PutCalendar> {
    return this.#library.calendarEdits.run(this.#tenant, async () => {
      const { store, context } = this.#library
      await store.readCalendars()
      const before = this.#find(name)
      const { calendar, notes } = read(before, context().now)
      if (before === undefined && this.#all().length >= CALENDARS_MAX) {
        throw new WakefulError('calendar.too_many', { max: CALENDARS_MAX })
      }
      const stored = await store.putCalendar(this.#tenant, calendar, context())
      const edited = { tenant: this.#tenant, name, version: stored.version }
      const moved = await recomputeCalendar(this.#library, edited)
      this.#library.engine.hint(null)
      this.#library.logNotifier.notifyTenant(this.#tenant)
      return { ...viewOf(stored), moved, notes }
    })
  }

  async get(name: string): Promise<CalendarView | null> {
    const calendar = this.#find(name)
    return calendar === undefined ? null : viewOf(calendar)
  }

  async list(): Promise<CalendarView[]> {
    return this.#all().map(viewOf)
  }

  async remove(name: string): Promise<boolean> {
    assertName('name', name, this.#library.limits.nameBytesMax)
    return this.#library.store.removeCalendar(this.#tenant, name)
  }

  #all(): readonly HolidayCalendar[] {
    return this.#library.store.calendars(this.#tenant)
  }

  #find(name: string): HolidayCalendar | undefined {
    return this.#all().find((calendar) => calendar.name === name)
  }
}

function viewOf({ name, dates, weekend }: HolidayCalendar): CalendarView {
  return { name, dates, weekend }
}

function counted(days: number): string {
  return `${days.toLocaleString('en-US')} day${days === 1 ? '' : 's'}`
}
