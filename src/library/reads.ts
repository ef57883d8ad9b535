import {
  type AlarmView,
  assertChoice,
  assertInteger,
  assertName,
  assertText,
  checked,
  checkedText,
  FILTERS,
  ownedWireJson,
  type ReadScope,
  type Scope,
  type Serial,
  type State,
  type Story,
  viewOf,
  why,
  wireJson,
  withoutUndefined,
} from '../alarm/index.ts'
import { WakefulError } from '../error.ts'
import { decodeCursor, encodeCursor, rangeOf, readLog } from '../log/index.ts'
import { HISTORY_STATES, LIST_STATES } from '../seeds/index.ts'
import type { FailureQuery, ListPosition, ListQuery, Stats } from '../stores/index.ts'
import { parse, preview, type Rule, resolveSince, type When, type WhenContext } from '../time/index.ts'
import type {
  AlarmRef,
  FailedPageOptions,
  HistoryOptions,
  HistoryPageOptions,
  ListOptions,
  ListPage,
  PreviewOptions,
  StatsView,
  Webhooks,
} from './api.ts'
import { TenantCalendars } from './calendars.ts'
import type { LibraryContext } from './context.ts'
import type { DefaultTarget } from './documents/index.ts'
import type { EventsOptions, EventsPage, EventView } from './events/index.ts'
import { eventData, eventFilterOf, eventView } from './events/index.ts'
import { allFailures, failurePage } from './failures.ts'

const LIST_DEFAULT = 50
const FAILED_DEFAULT = 20
/** More than any target has. */
const TARGET_BYTES_MAX = 4_096
const STORY_EVENTS_MAX = 1_000

const LIST = {
  status: true,
  ...FILTERS,
  target: true,
  q: true,
  since: true,
  order: true,
  limit: true,
  cursor: true,
} as const
const HISTORY = { status: true, target: true, process: true, since: true, limit: true } as const
const PREVIEW = { from: true, count: true, timezone: true } as const
const EVENTS = {
  after: true,
  follow: true,
  alarmId: true,
  type: true,
  origin: true,
  subject: true,
  correlationId: true,
  since: true,
  until: true,
  signal: true,
} as const

/** Only active alarms have a next instant, and so a place in the order of instants. */
const WITH_INSTANT: readonly unknown[] = [undefined, 'active', 'pending', 'Scheduled']

/**
 * What one owner may ask: every question carries the scope, and sees nothing else (promise: isolated). Reads of alarms
 * carry `readScope`, which may be all owners of a tenant, or all tenants.
 */
export class ScopedReads {
  protected readonly library: LibraryContext
  protected readonly scope: Scope
  readonly #readScope: ReadScope
  readonly calendars: TenantCalendars

  constructor(library: LibraryContext, scope: Scope, readScope: ReadScope = scope) {
    this.library = library
    this.scope = scope
    this.#readScope = readScope
    this.calendars = new TenantCalendars(library, scope.tenant)
  }

  /** Refuses what cannot be the name of anything. */
  protected name(field: string, value: unknown): string {
    return assertName(field, value, this.library.limits.nameBytesMax)
  }

  get defaultTarget(): DefaultTarget {
    return this.library.defaultTargets.of(this.scope)
  }

  get tenantDefaultTarget(): DefaultTarget {
    return this.library.defaultTargets.of({ tenant: this.scope.tenant })
  }

  async hasDefaultTarget(): Promise<boolean> {
    return (await this.library.defaultTargets.find(this.scope)) !== null
  }

  get webhooks(): Webhooks {
    const known = () => {
      const secrets = this.library.webhookSecrets
      if (secrets === undefined) throw new WakefulError('webhook.unsupported', {})
      return secrets
    }
    const { tenant } = this.scope
    return { secret: () => known().read(tenant), rotateSecret: () => known().rotate(tenant) }
  }

  /** How the store names the alarm that a caller names by its id or key. */
  protected named(alarm: AlarmRef): { readonly id: string } | { readonly key: string } {
    if (typeof alarm !== 'object' || alarm === null) return { id: this.name('id', alarm) }
    const { key } = checked<Exclude<AlarmRef, string>>('an alarm', alarm, { key: true })
    return { key: this.name('key', key) }
  }

  async get(alarm: AlarmRef): Promise<AlarmView | null> {
    const snapshot = await this.library.store.get(this.#readScope, this.named(alarm))
    return snapshot && viewOf(snapshot)
  }

  getByKey(key: string): Promise<AlarmView | null> {
    return this.get({ key })
  }

  async wire(alarm: AlarmRef): Promise<string | null> {
    const view = await this.get(alarm)
    return view && (this.#isWide ? ownedWireJson(view) : wireJson(view))
  }

  async list(options: ListOptions = {}): Promise<ListPage> {
    const { cursor, ...asked } = checked<ListOptions>('list', options, LIST)
    const { status, q, since, order = 'newest', limit, ...filters } = asked
    assertChoice('order', order, ['newest', 'due'])
    const isDue = order === 'due'
    const states = status === undefined ? undefined : statesOf(LIST_STATES, status)
    if (isDue && !WITH_INSTANT.includes(status))
      throw new WakefulError('list.order_without_instant', { status: String(status) }, { field: 'order' })
    for (const [name, value] of Object.entries({ ...filters, q })) this.#filter(name, value)
    const query = {
      ...filters,
      states: isDue ? LIST_STATES.active : states,
      text: q,
      since: this.#since(since),
      order,
      limit: this.#limit(limit, LIST_DEFAULT),
    }
    return this.#page(query, cursor)
  }

  async history(options: HistoryOptions = {}): Promise<AlarmView[]> {
    const asked = checked<HistoryOptions>('history', options, HISTORY)
    const query = this.#historyQuery(asked)
    const failures = failuresIn(query)
    return failures === null ? this.#whole(query) : allFailures(this.library.store, this.#readScope, failures)
  }

  async historyPage(options: HistoryPageOptions = {}): Promise<ListPage> {
    const call = 'historyPage'
    const { cursor, ...rest } = checked<HistoryPageOptions>(call, options, { ...HISTORY, cursor: true })
    const query = this.#historyQuery(rest)
    const failures = failuresIn(query)
    return failures === null ? this.#page(query, cursor) : this.#failurePage(failures, cursor)
  }

  async failed(options: { limit?: number } = {}): Promise<AlarmView[]> {
    const { limit } = checked<typeof options>('failed', options, { limit: true })
    return allFailures(this.library.store, this.#readScope, { limit: this.#limit(limit, FAILED_DEFAULT) })
  }

  async failedPage(options: FailedPageOptions = {}): Promise<ListPage> {
    const names = { limit: true, cursor: true } as const
    const { limit, cursor } = checked<FailedPageOptions>('failedPage', options, names)
    return this.#failurePage({ limit: this.#limit(limit, FAILED_DEFAULT) }, cursor)
  }

  async stats() {
    return statsView(await this.library.store.stats(this.#readScope))
  }

  async why(alarm: AlarmRef): Promise<Story> {
    const { store } = this.library
    const named = this.named(alarm)
    const id = 'id' in named ? named.id : (await store.get(this.#readScope, named))?.alarm.id
    const story = id === undefined ? null : await store.story(this.#readScope, id, STORY_EVENTS_MAX)
    if (story === null) throw notFound(alarm)
    const { snapshot, events } = story
    const shards = await store.shardStates(false, [snapshot.alarm.target.pool])
    const clockRuns = shards.some(({ holder: owner }) => owner !== null)
    const lines = events.map(({ at, type, data }) => ({ at, type, data: eventData(data) }))
    const { tenant, owner } = snapshot.alarm
    const explained = why(snapshot, lines, { now: this.library.context().now, clockRuns })
    return this.#isWide ? { ...explained, tenant, owner } : explained
  }

  preview(when: When | Rule, options: PreviewOptions = {}) {
    const { from, count, timezone } = checked<PreviewOptions>('preview', options, PREVIEW)
    // Seconds or milliseconds? A number is refused, as everywhere.
    if (typeof from === 'number')
      throw new WakefulError('instant.bare_number', { value: String(from) }, { field: 'from' })
    return preview(when, { ...this.whenContext(timezone), ...withoutUndefined({ from, count }) })
  }

  parse(text: string, timezone?: string) {
    const parsed = parse(text, this.whenContext(timezone))
    return 'rule' in parsed ? parsed : { ...parsed, instant: new Date(parsed.instant) }
  }

  async *events(options: EventsOptions = {}): AsyncIterableIterator<EventView> {
    for await (const { items } of this.#eventPages('events', options)) yield* items
  }

  eventPages(options: EventsOptions = {}): AsyncIterableIterator<EventsPage> {
    return this.#eventPages('eventPages', options)
  }

  async newest(): Promise<string> {
    return encodeCursor('events', [await this.library.store.lastEvent()])
  }

  async *#eventPages(call: string, options: EventsOptions): AsyncIterableIterator<EventsPage> {
    const { alarmId, signal, follow = false, until } = checked<EventsOptions>(call, options, EVENTS)
    checkedText('alarmId', alarmId)
    if (signal !== undefined && !(signal instanceof AbortSignal))
      throw new WakefulError('field.malformed', { expected: 'an AbortSignal' }, { field: 'signal' })
    if (follow && until !== undefined) throw new WakefulError('event.follow_until', {}, { field: 'until' })
    const { store, limits, logNotifier } = this.library
    const filter = eventFilterOf(options, this.whenContext(), limits.nameBytesMax)
    const after = await this.#place(checkedText('after', options.after))
    const isResumed = options.after !== undefined && options.after !== 'newest'
    const assertWhole = isResumed ? () => this.#assertWhole(after, alarmId) : undefined
    const range = await rangeOf(store, after, filter)
    const reading = { ...range, follow, ...withoutUndefined({ alarmId, filter, signal, assertWhole }) }
    const stop = follow ? logNotifier.watch() : () => {}
    try {
      for await (const { events, next } of readLog(store, this.#readScope, logNotifier, reading))
        yield {
          items: events.map((event) => eventView(event, this.#isWide)),
          nextCursor: encodeCursor('events', [next]),
        }
    } finally {
      stop()
    }
  }

  #place(after: string | undefined): Promise<Serial> | Serial {
    if (after === undefined) return 0
    return after === 'newest' ? this.library.store.lastEvent() : decodeCursor('events', after)[0]!
  }

  async #assertWhole(after: Serial, alarmId: string | undefined): Promise<void> {
    const { store } = this.library
    const pruned = await store.prunedTo(this.#readScope)
    if (pruned === null || after >= pruned) return
    if (alarmId !== undefined) {
      // The oldest events of an alarm are deleted first: if one from before the cursor is left, none after it is missing.
      const [oldest] = (await store.events(this.#readScope, { after: 0, limit: 1, alarmId })).events
      if (oldest !== undefined && oldest.seq <= after) return
    }
    throw new WakefulError('cursor.expired', {})
  }

  get #isWide(): boolean {
    return this.#readScope.owner === null
  }

  #historyQuery({ status, since, limit, target, process }: HistoryOptions): ListQuery {
    return {
      states: status === undefined ? undefined : statesOf(HISTORY_STATES, status),
      target: this.#filter('target', target) ?? this.#filter('process', process),
      since: this.#since(since),
      order: 'newest',
      limit: this.#limit(limit, LIST_DEFAULT),
    }
  }

  #failurePage(query: FailureQuery, cursor: string | undefined): Promise<ListPage> {
    return failurePage(this.library.store, this.#readScope, query, checkedText('cursor', cursor))
  }

  async #page(query: ListQuery, cursor: string | undefined): Promise<ListPage> {
    const from = checkedText('cursor', cursor)
    const after = from === undefined ? undefined : placeOf(from, query.order)
    const { items, next } = await this.library.store.list(this.#readScope, { ...query, after })
    return { items: items.map(viewOf), nextCursor: next === null ? null : cursorOf(next) }
  }

  /** Reads page by page, because pages with large alarms end early, until there are as many as requested. */
  async #whole(query: ListQuery): Promise<AlarmView[]> {
    const found: AlarmView[] = []
    let after: ListPosition | null | undefined
    while (after !== null && found.length < query.limit) {
      const limit = query.limit - found.length
      const { items, next } = await this.library.store.list(this.#readScope, { ...query, limit, after })
      found.push(...items.map(viewOf))
      after = next
    }
    return found
  }

  /** A text to filter by: one that no field can have is refused, because no alarm would match. */
  #filter(name: string, value: unknown): string | undefined {
    const isTarget = name === 'target' || name === 'process'
    const bytesMax = isTarget ? TARGET_BYTES_MAX : this.library.limits.nameBytesMax
    return value === undefined ? undefined : assertText(name, value, bytesMax)
  }

  #since(since: When | undefined): number | undefined {
    return since === undefined ? undefined : resolveSince(since, this.whenContext())
  }

  /** What a time is resolved against. */
  protected whenContext(timezone = this.library.timezone, now = this.library.context().now): WhenContext {
    return { now, timezone, phrases: this.library.phrases, calendars: this.calendars.lookup }
  }

  #limit(limit: number | undefined, standard: number): number {
    const { listMax } = this.library.limits
    return limit === undefined ? standard : Math.min(assertInteger('limit', limit, 1, null), listMax)
  }
}

/** The figures as users see them. */
export function statsView({ timedOut, ...stats }: Stats): StatsView {
  return { ...stats, timeoutUnknown: timedOut }
}

function placeOf(cursor: string, order: ListQuery['order']): ListPosition {
  const [row, at] = decodeCursor('list', cursor)
  if ((at !== undefined) !== (order === 'due'))
    throw new WakefulError('list.cursor_of_other_order', { order }, { field: 'cursor' })
  return { row: row!, ...(at !== undefined && { at: Number(at) }) }
}

function cursorOf({ row, at }: ListPosition): string {
  return encodeCursor('list', at === undefined ? [row] : [row, at])
}

function statesOf<S extends string>(
  table: Readonly<Record<S, readonly State[]>>,
  status: S,
): readonly State[] {
  return table[assertChoice('status', status, Object.keys(table) as S[])]
}

/** What a history of failures reads; null for a history of alarms. */
function failuresIn({ states = [], target, since, limit }: ListQuery): FailureQuery | null {
  const kinds = states.filter((state) => state === 'failed' || state === 'timed_out')
  return kinds.length === 0 ? null : { kinds, target, since, limit }
}

/** What is not there and what is not yours is the same answer. */
export function notFound(alarm: AlarmRef): WakefulError {
  const quoted = (name: string) => JSON.stringify(name.slice(0, 100))
  const name = typeof alarm === 'string' ? quoted(alarm) : `with the key ${quoted(alarm.key)}`
  return new WakefulError('alarm.not_found', { name })
}
