import { WakefulError } from '../error.ts'
import { type CalendarInput, type CalendarLookup, type HolidayCalendar, readCalendar } from '../time/index.ts'
import type { Calendars, CalendarView, PutCalendar } from './api.ts'
import type { LibraryContext } from './context.ts'
import { checked } from './options.ts'
import { reviewCalendar } from './upkeep.ts'

const CALENDAR = { name: true, dates: true, ics: true, weekend: true } as const
const CALENDARS_MAX = 1_000

/** What a call makes of the calendar that was there before. */
type Reading = (before: HolidayCalendar | undefined, now: number) => ReturnType<typeof readCalendar>

/** The last requested edit, by store and tenant. */
const editsOf = new WeakMap<LibraryContext['store'], Map<string, Promise<unknown>>>()

/** One tenant's holiday calendars: every owner's alarms of the tenant can name them, and no other tenant's. */
export class TenantCalendars implements Calendars {
  /** Finds calendars for a *when*. */
  readonly lookup: CalendarLookup
  readonly #library: LibraryContext
  readonly #tenant: string

  constructor(library: LibraryContext, tenant: string) {
    this.#library = library
    this.#tenant = tenant
    this.lookup = this.#lookup()
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

  /** One edit of a tenant's calendars at a time in this process, so that two that add both count. */
  #write(name: string, read: Reading): Promise<PutCalendar> {
    const { store } = this.#library
    const edits = editsOf.get(store) ?? new Map<string, Promise<unknown>>()
    editsOf.set(store, edits)
    const edit = (edits.get(this.#tenant) ?? Promise.resolve()).then(() => this.#writeNow(name, read))
    edits.set(
      this.#tenant,
      edit.catch(() => {}),
    )
    return edit
  }

  async #writeNow(name: string, read: Reading): Promise<PutCalendar> {
    const { store, context, observer } = this.#library
    await store.readCalendars()
    const before = this.#find(name)
    const { calendar, notes } = read(before, context().now)
    if (before === undefined && store.calendars(this.#tenant).length >= CALENDARS_MAX) {
      throw new WakefulError('calendar.too_many', { max: CALENDARS_MAX })
    }
    const stored = await store.putCalendar(this.#tenant, calendar, context())
    const edited = { tenant: this.#tenant, name, version: stored.version }
    const moved = await reviewCalendar({ store, observer, context: () => context() }, edited)
    this.#library.engine.hint(null)
    this.#library.logNotifier.notifyTenant(this.#tenant)
    return { ...viewOf(stored), moved, notes }
  }

  async get(name: string): Promise<CalendarView | null> {
    const calendar = this.#find(name)
    return calendar === undefined ? null : viewOf(calendar)
  }

  async list(): Promise<CalendarView[]> {
    return this.#library.store.calendars(this.#tenant).map(viewOf)
  }

  remove(name: string): Promise<boolean> {
    return this.#library.store.removeCalendar(this.#tenant, name)
  }

  #lookup(): CalendarLookup {
    const find = (name: string) => this.#find(name)
    const names = () => this.#library.store.calendars(this.#tenant).map((calendar) => calendar.name)
    return Object.defineProperty(find, 'names', { get: names })
  }

  #find(name: string): HolidayCalendar | undefined {
    return this.#library.store.calendars(this.#tenant).find((calendar) => calendar.name === name)
  }
}

function viewOf({ name, dates, weekend }: HolidayCalendar): CalendarView {
  return { name, dates, weekend }
}

function counted(days: number): string {
  return `${days.toLocaleString('en-US')} day${days === 1 ? '' : 's'}`
}
