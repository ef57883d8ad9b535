import type {
  AlarmView,
  CancelOutcome,
  FieldFilters,
  Limits,
  Scope,
  SetOptions,
  Status,
  Story,
  TargetSpec,
} from '../alarm/index.ts'
import type { ObservedAttempt, Observer } from '../engine/index.ts'
import type { HistoryStatus } from '../seeds/index.ts'
import type { Documents, LogEvent, Stats } from '../stores/index.ts'
import type { Fire, Handler, HandlerOptions } from '../targets/index.ts'
import type { CalendarInput, Clock, HolidayCalendar, Preview, Rule, When } from '../time/index.ts'
import type { Readings } from './readings.ts'

/** What `set` takes beside the *when*. */
export interface SetCallOptions extends SetOptions {
  /** The zone plain language and rules are read in. */
  readonly timezone?: string
  /** The caller's own open transaction (a `node:sqlite` handle): done in it, or not at all. */
  readonly tx?: unknown
}

/** Options of a call that can be made in the caller's own transaction. */
export interface TxOptions {
  readonly tx?: unknown
}

/** An alarm that was set: whether its idempotency key was known (nothing changed), or its key (it was set again). */
export type SetView = AlarmView & { readonly deduped?: true; readonly replaced?: true }

/** What an edit may change: the alarm's options, and when it fires. */
export interface EditFields extends SetOptions {
  /** Another time: the alarm starts afresh, as with `reschedule`. */
  readonly when?: When
  readonly timezone?: string
}

/** An event of the caller's own, to be appended to the log. */
export interface OwnEventInput {
  /** A dotted name of the caller's own, such as `order.paid`. */
  readonly type: string
  readonly subject?: string
  readonly correlationId?: string
  /** Any JSON object, or `rawJson(text)`. */
  readonly data?: unknown
}

/** One of many to set. */
export type SetManyItem = { readonly when: When; readonly timezone?: string } & SetOptions

/** The version that an edit is based on. */
export interface SeenOptions {
  /** The `updatedAt` the caller saw: the edit is refused (`conflict`) when it is no longer the newest. */
  readonly updatedAt?: Date | string
}

/** Which alarms to list. */
export interface ListOptions extends FieldFilters {
  readonly status?: Status | 'pending'
  readonly target?: string
  /** Words to search for in label, message, key and subject. */
  readonly q?: string
  /** An instant, seconds since 1970 as a text, or a duration, which means so long ago. */
  readonly since?: When
  /** `due`: only what has an instant to come, the next first. Neither what is paused nor what has ended has one. */
  readonly order?: 'newest' | 'due'
  readonly limit?: number
  readonly cursor?: string
}

/** Which alarms' history: the filters of seed 001 under the contract's names. */
export interface HistoryOptions {
  readonly status?: HistoryStatus
  readonly target?: string
  /** Another name for `target`. */
  readonly process?: string
  /** An instant, seconds since 1970 as a text, or a duration, which means so long ago. */
  readonly since?: When
  readonly limit?: number
}

/** Which page of the history. */
export type HistoryPageOptions = HistoryOptions & { readonly cursor?: string }

/** Which page of the failed alarms. */
export interface FailedPageOptions {
  readonly limit?: number
  readonly cursor?: string
}

/**
 * A page of a list: it ends early at about 4 MiB of content, so only a `nextCursor` of null means that there is no
 * more.
 */
export interface ListPage {
  readonly items: readonly AlarmView[]
  readonly nextCursor: string | null
}

/** The figures, under seed 001's names. */
export interface StatsView {
  readonly total: number
  readonly pending: number
  readonly fired: number
  readonly completed: number
  readonly failed: number
  readonly cancelled: number
  readonly timeoutUnknown: number
  readonly avgDurationMs: number | null
}

/** A row of the log, as users see it. */
export interface EventView {
  readonly id: string
  readonly cursor: string
  readonly tenant: string
  readonly type: string
  readonly origin: string
  readonly alarmId: string | null
  readonly occurrenceId: string | null
  readonly key: string | null
  readonly subject: string | null
  readonly correlationId: string | null
  readonly at: Date
  readonly data: Readonly<Record<string, unknown>>
  /** The data as JSON text, byte for byte: parsing loses digits beyond 2^53. */
  readonly dataJson: string
}

/** How to read the log. */
export interface EventsOptions {
  /** Start after this place: a cursor, or `newest` for what is appended from now on. From the beginning by default. */
  readonly after?: string
  /** Go on with what is appended later, until the signal or `break`. */
  readonly follow?: boolean
  readonly alarmId?: string
  readonly signal?: AbortSignal
}

/** The result of plain language: an instant, or a rule. */
export interface ParsedView {
  readonly instant?: Date
  readonly rule?: Rule
  readonly timezone: string
  readonly notes: readonly string[]
}

/** What `tick` did. */
export interface TickResult {
  readonly fired: number
  readonly nextWakeAt: Date | null
}

/** The process that runs a pool's clock, and what is pending there. */
export interface ClockState {
  readonly pool: string
  /** The process that runs it; null where none does. */
  readonly owner: string | null
  /** How often the clock has changed its owner. */
  readonly epoch: number
  readonly pending: number
  readonly nextWakeAt: Date | null
}

/** A holiday calendar, as users see it. */
export interface CalendarView {
  readonly name: string
  /** The days off, each with what it is called. */
  readonly dates: Readonly<Record<string, string>>
  /** Weekdays that are off as well: 1 is Monday. */
  readonly weekend: readonly number[]
}

/** A calendar that was put: how many pending alarms moved by it, and what may surprise. */
export type PutCalendar = CalendarView & { moved: number; notes: string[] }

/** A tenant's holiday calendars, which its alarms name in `exclude`. */
export interface Calendars {
  /**
   * Creates or replaces a calendar; pending alarms that name it are resolved again, and `moved` is the number that
   * moved.
   */
  put(name: string, calendar: CalendarInput): Promise<PutCalendar>
  /** Adds days to one, or makes it where there is none. */
  add(name: string, calendar: CalendarInput): Promise<PutCalendar>
  /** The calendar, or null where there is none. */
  get(name: string): Promise<CalendarView | null>
  list(): Promise<CalendarView[]>
  /** Whether there was one; refused (`conflict`) while a live alarm names it. */
  remove(name: string): Promise<boolean>
}

/** How to take wakes out of an inbox. */
export interface TakeOptions {
  /** How long to wait for one where there is none ('0s', at most '60s'). */
  readonly wait?: string
  /** How long they are yours: what is not acknowledged by then comes again ('60s', at most '1h'). */
  readonly hold?: string
  /** How many at most (10, up to 100). */
  readonly limit?: number
  readonly signal?: AbortSignal
}

/** A wake that lay in an inbox. */
export interface WakeView {
  readonly occurrenceId: string
  readonly alarmId: string
  readonly arrivedAt: Date
  /** How often it was handed out, this time included. */
  readonly tries: number
  /** The wake's body, as a webhook would have got it. */
  readonly body: Readonly<Record<string, unknown>>
  /** The same as JSON text, byte for byte. */
  readonly bodyJson: string
}

/** The report on a wake. */
export interface WakeReport {
  readonly complete?: string
  readonly fail?: string
  /** `tries` of the wake. If the wake was handed out again since, the call is refused (`not_found`). */
  readonly tries?: number
}

/** The wakes of alarms with the target `inbox`, for callers without a URL. */
export interface Inbox {
  /** The oldest wakes, waiting for one where there is none. */
  take(options?: TakeOptions): Promise<WakeView[]>
  /** Takes a wake out of the inbox, with a report where its alarm awaits one. */
  ack(occurrenceId: string, report?: WakeReport): Promise<void>
}

/** Where an owner's alarms go that name no target. */
export interface DefaultTarget {
  get(): Promise<TargetSpec | null>
  put(target: TargetSpec): Promise<TargetSpec>
  /** Whether there was one. */
  remove(): Promise<boolean>
}

/** What a server needs beside the alarms themselves. */
export interface Operator {
  /** What runs here, and what waits in the store: for metrics and health. */
  readings(): Promise<Readings>
  /** The number of shards that run here; known without a statement. */
  shardsHere(): number
  readonly clock: Clock
  /** Keys, tenants' settings and whatever else is kept beside the alarms. */
  readonly documents: Documents
  /** A tenant's holiday calendars, as they stand. */
  calendarsOf(tenant: string): readonly HolidayCalendar[]
  /** Writes what an admin did into the tenant's log. */
  audit(
    tenant: string,
    act: { readonly type: string; readonly data: Readonly<Record<string, unknown>> },
  ): Promise<void>
  /** How many alarms of a tenant are still to fire, over all its owners. */
  pendingOf(tenant: string): Promise<number>
  /** Whether a set with this idempotency key would be answered with an alarm that is there already. */
  isKnown(scope: Scope, idempotencyKey: string): Promise<boolean>
  /** Stops the clock as `close` does, and leaves the store open: calls and reports are still accepted. */
  drain(): Promise<void>
}

/** What a tenant's webhooks are signed with, as the Standard Webhooks libraries take it (`whsec_…`). */
export interface TenantSecret {
  readonly secret: string
  /** The one before, which signs too until `formerUntil`; null where none does. */
  readonly former: string | null
  readonly formerUntil: Date | null
}

/** Where tenants' webhook secrets come from: the host's part. */
export interface TenantSecrets {
  read(tenant: string): Promise<TenantSecret>
  rotate(tenant: string): Promise<TenantSecret>
}

/** A tenant's webhooks. */
export interface Webhooks {
  /** The secret that receivers verify with. */
  secret(): Promise<TenantSecret>
  /**
   * Makes another one; for 24 hours the former signs too, so that receivers can change over. Each former one has its own
   * 24 hours; while ten sign, it is refused (`conflict`).
   */
  rotateSecret(): Promise<TenantSecret>
}

/** Everything that can be done with one owner's alarms. */
export interface Alarms {
  /** The wakes of alarms with the target `inbox`. */
  readonly inbox: Inbox
  /** Where alarms go that name no target. */
  readonly defaultTarget: DefaultTarget
  /** The tenant's webhooks. */
  readonly webhooks: Webhooks
  /** The tenant's holiday calendars. */
  readonly calendars: Calendars
  set(when: When, options?: SetCallOptions): Promise<SetView>
  setMany(items: readonly SetManyItem[], options?: { tx?: unknown }): Promise<SetView[]>
  /** The alarm, or null where there is none of yours. */
  get(id: string): Promise<AlarmView | null>
  getByKey(key: string): Promise<AlarmView | null>
  list(options?: ListOptions): Promise<ListPage>
  reschedule(id: string, when: When, options?: SeenOptions & { timezone?: string }): Promise<AlarmView>
  /** Edits the alarm's options; with a `when` it is rescheduled in the same change. */
  edit(id: string, fields: EditFields, options?: SeenOptions): Promise<AlarmView>
  cancel(
    id: string,
    options?: SeenOptions & { tx?: unknown },
  ): Promise<{ outcome: CancelOutcome; alarm: AlarmView }>
  cancelMany(ids: readonly string[]): Promise<{ id: string; outcome: CancelOutcome | 'not_found' }[]>
  removeSubject(subject: string, options?: { tx?: unknown }): Promise<{ cancelled: number; firing: number }>
  pause(id: string, options?: SeenOptions): Promise<AlarmView>
  resume(id: string, options?: SeenOptions): Promise<AlarmView>
  skipNext(id: string, options?: SeenOptions): Promise<AlarmView>
  fireNow(id: string, options?: SeenOptions): Promise<AlarmView>
  retry(id: string, options?: SeenOptions): Promise<AlarmView>
  complete(id: string, result?: string, options?: { occurrenceId?: string }): Promise<AlarmView>
  fail(id: string, reason?: string, options?: { occurrenceId?: string }): Promise<AlarmView>
  /** Cancels every pending alarm of the caller. */
  reset(): Promise<{ cancelled: number; firing: number }>
  /** As many as requested, however large they are. */
  history(options?: HistoryOptions): Promise<AlarmView[]>
  /** The same page by page, each of bounded size. */
  historyPage(options?: HistoryPageOptions): Promise<ListPage>
  stats(): Promise<StatsView>
  failed(options?: { limit?: number }): Promise<AlarmView[]>
  failedPage(options?: FailedPageOptions): Promise<ListPage>
  why(id: string): Promise<Story>
  preview(when: When, options?: { from?: Date; count?: number; timezone?: string }): Preview
  parse(text: string, timezone?: string): ParsedView
  events(options?: EventsOptions): AsyncIterableIterator<EventView>
  /** The end of the log as a cursor: `after` it comes what has not happened yet. */
  newest(): Promise<string>
  /** Appends an event of the caller's own to the log (origin `caught`). */
  append(event: OwnEventInput): Promise<EventView>
  /** The alarm as JSON text on the wire, its payload byte for byte. */
  wire(id: string): Promise<string | null>
}

/** One owner's alarms, the clock that fires them, and views for other owners. */
export interface Wakeful extends Alarms {
  /** Registers what runs when an alarm with this target fires: returning is success, throwing a failed attempt. */
  handle(name: string, handler: Handler, options?: HandlerOptions): void
  /** Runs the clock; everything but firing works without it. */
  start(): Promise<void>
  /** Fires what is due now and returns when it has settled: for serverless hosts and tests. */
  tick(): Promise<TickResult>
  /** Stops claiming, lets what is in flight settle (30 s at most), and closes the store. */
  close(): Promise<void>
  /** A view that can see nothing but this tenant's and owner's alarms. */
  forTenant(tenant: string, owner?: string): Alarms
  /** The process that runs each pool's clock, and what is pending there. */
  ownership(): Promise<ClockState[]>
  /** Whether this process holds the lease of a pool or shard, and so fires alarms. */
  readonly isOwner: boolean
  /** What a server needs besides the alarms. */
  readonly operator: Operator
  readonly limits: Limits
}

export type { Fire, Handler, LogEvent, ObservedAttempt, Observer, Stats }
