import type {
  AlarmView,
  CancelOutcome,
  FieldFilters,
  Limits,
  Scope,
  SetOptions,
  Story,
} from '../alarm/index.ts'
import type { ObservedAttempt, Observer } from '../engine/index.ts'
import type { WakefulError } from '../error.ts'
import type { HistoryStatus, ListStatus } from '../seeds/index.ts'
import type { Documents, LogEvent, Stats, TenantsQuery } from '../stores/index.ts'
import type { Fire, Handler, HandlerOptions } from '../targets/index.ts'
import type { Clock, HolidayCalendar, Moment, Preview, Rule, When } from '../time/index.ts'
import type { Applied, ApplyOptions, DeclaredAlarm } from './apply.ts'
import type { DefaultTarget } from './documents/index.ts'
import type { EventsOptions, EventsPage, EventView, OwnEventInput } from './events/index.ts'
import type { Readings } from './readings.ts'
import type { Calendars, Inbox } from './resources.ts'

/** The alarm that a call is about: its id, or its key. */
export type AlarmRef = string | { readonly key: string }

/** The options of `set`. */
export interface SetCallOptions extends SetOptions {
  /** The time zone of plain language and rules. */
  readonly timezone?: string
  /** Ends the pause of the alarm that has this key; otherwise it stays paused. */
  readonly paused?: false
  /** Your open transaction (a `node:sqlite` handle). The call becomes part of it, and is rolled back with it. */
  readonly tx?: unknown
}

/** Options of a call that can be part of your transaction. */
export interface TxOptions {
  readonly tx?: unknown
}

/**
 * The result of a set: `deduped` if its idempotency key was known (nothing changed), and if its key was, `replaced`, or
 * `unchanged` if the alarm is defined so already (nothing changed).
 */
export type SetView = AlarmView & {
  readonly deduped?: true
  readonly replaced?: true
  readonly unchanged?: true
}

/** What an edit can change: the alarm's options, and when it fires. */
export interface EditFields extends SetOptions {
  /** A new time. The alarm starts over, as with `reschedule`. */
  readonly when?: When
  readonly timezone?: string
}

/** One item of `setMany`. */
export type SetManyItem = {
  readonly when: When
  readonly timezone?: string
  readonly paused?: false
} & SetOptions

/** The version that an edit is based on. */
export interface SeenOptions {
  /** The `updatedAt` that you have read. The edit is refused (`conflict`) if the alarm has changed since. */
  readonly updatedAt?: Date | string
}

/** The options of a call that moves an alarm in time. */
export interface MoveOptions extends SeenOptions {
  /** The time zone of the new time. The default is the alarm's own. */
  readonly timezone?: string
}

/** Which alarms to list. */
export interface ListOptions extends FieldFilters {
  /** A status, or a word of the seeds for it: `pending`, `Scheduled`, `Reached`, `timeout_unknown`. */
  readonly status?: ListStatus
  readonly target?: string
  /** Words to search for in label, message, key and subject. */
  readonly q?: string
  /** An instant, seconds since 1970 as a string, or a duration before now. */
  readonly since?: When
  /** `newest` first (the default), or `due`: next to fire first, without alarms that are paused or have ended. */
  readonly order?: 'newest' | 'due'
  readonly limit?: number
  readonly cursor?: string
}

/** Which alarms to act on. `{}` is all of them. */
export type BulkFilter = Omit<ListOptions, 'order' | 'limit' | 'cursor'>

/** The options of a call on all alarms that match a filter. */
export interface BulkOptions {
  /** Only counts the alarms that match. */
  readonly dryRun?: boolean
}

/** What a call on all alarms that match a filter has done. */
export interface BulkResult {
  readonly matched: number
  readonly done: number
  /** The first 100 alarms for which it failed. */
  readonly refused: readonly { readonly id: string; readonly code: string; readonly detail: string }[]
  /** Whether some are left, because one call handles at most 10,000. */
  readonly more: boolean
}

/** The filters of `history`. */
export interface HistoryOptions {
  readonly status?: HistoryStatus
  readonly target?: string
  /** Another name for `target`. */
  readonly process?: string
  /** An instant, seconds since 1970 as a string, or a duration before now. */
  readonly since?: When
  readonly limit?: number
}

/** The filters of `historyPage`. */
export type HistoryPageOptions = HistoryOptions & { readonly cursor?: string }

/** The options of `failedPage`. */
export type FailedPageOptions = Pick<HistoryPageOptions, 'limit' | 'cursor'>

/**
 * A page of a list. It may have fewer items than its limit, because it ends at about 4 MiB: only a `nextCursor` of null
 * means that it is the last.
 */
export interface ListPage {
  readonly items: readonly AlarmView[]
  readonly nextCursor: string | null
}

/** How many alarms there are, by outcome. */
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

/** How to preview a time. */
export interface PreviewOptions {
  /** Show the instants from here on, as if it were that time: an instant, or a text that names one. */
  readonly from?: Moment
  /** How many instants (default 5). */
  readonly count?: number
  readonly timezone?: string
}

/** What plain language means: an instant, or a rule. */
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
  /** The process that runs it; null if none does. */
  readonly owner: string | null
  /** How often another process has taken over. */
  readonly epoch: number
  readonly pending: number
  readonly nextWakeAt: Date | null
}

/** What a server needs besides the alarms. */
export interface Operator {
  /** What runs here and what waits in the store, for metrics and health checks. */
  readings(): Promise<Readings>
  /** Why this process lacks the secret of the store and cannot send webhooks; null if it has it. */
  checkSecret(): Promise<WakefulError | null>
  /** The number of shards that run here; known without a statement. */
  shardsHere(): number
  readonly clock: Clock
  /** API keys, the settings of tenants, and other documents that are stored beside the alarms. */
  readonly documents: Documents
  /** A tenant's holiday calendars. */
  calendarsOf(tenant: string): readonly HolidayCalendar[]
  /** Records the action of an administrator in the tenant's log. */
  audit(
    tenant: string,
    act: { readonly type: string; readonly data: Readonly<Record<string, unknown>> },
  ): Promise<void>
  /** The next tenants that have anything, each with its figures. */
  tenants(query: TenantsQuery): Promise<{ tenant: string; stats: StatsView }[]>
  /** The figures of a tenant, over all its owners. */
  statsOf(tenant: string): Promise<StatsView>
  /** How many alarms of a tenant, over all its owners, are still to fire. */
  pendingOf(tenant: string): Promise<number>
  /** Whether there is an alarm with this idempotency key. */
  isKnown(scope: Scope, idempotencyKey: string): Promise<boolean>
  /** One owner's alarms, whose sets and reschedules must be admitted after `when` is resolved and before it is stored. */
  admittedAlarms(scope: Scope, admit: Admit): Alarms
  /** Stops firing, as `close` does, but leaves the store open, so that calls and reports are still accepted. */
  drain(): Promise<void>
}

/** A rule as a write will store it. */
export interface ResolvedRule {
  readonly firstAt: number
  /** The shortest time between two of its next instants; Infinity if there are fewer than two. */
  readonly shortestMs: number
}

/**
 * Throws to refuse a write, by the rules that it will store and the instant that they were resolved at. It is called
 * again if the write is tried again.
 */
export type Admit = (rules: readonly ResolvedRule[], now: number) => void

/** The secret that signs a tenant's webhooks, in the form of the Standard Webhooks libraries (`whsec_…`). */
export interface TenantSecret {
  readonly secret: string
  /** The previous secret, which also signs until `formerUntil`; null if there is none. */
  readonly former: string | null
  readonly formerUntil: Date | null
}

/** Reads and rotates the webhook secrets of tenants; the host implements it. */
export interface TenantSecrets {
  read(tenant: string): Promise<TenantSecret>
  rotate(tenant: string): Promise<TenantSecret>
}

/** A tenant's webhooks. */
export interface Webhooks {
  /** The secret with which receivers verify signatures. */
  secret(): Promise<TenantSecret>
  /**
   * Creates a new secret. The former one also signs for 24 more hours, so that receivers can change over. Refused
   * (`conflict`) while ten secrets sign.
   */
  rotateSecret(): Promise<TenantSecret>
}

/** The calls on one owner's alarms. */
export interface Alarms {
  /** The wakes of alarms with the target `inbox`. */
  readonly inbox: Inbox
  /** The target of this owner's alarms that name none. */
  readonly defaultTarget: DefaultTarget
  /** The same for all owners of the tenant that have no default target of their own. */
  readonly tenantDefaultTarget: DefaultTarget
  /** Whether alarms that name no target have one: the default of this owner, of the tenant, or of the process. */
  hasDefaultTarget(): Promise<boolean>
  /** The tenant's webhooks. */
  readonly webhooks: Webhooks
  /** The tenant's holiday calendars. */
  readonly calendars: Calendars
  set(when: When, options?: SetCallOptions): Promise<SetView>
  setMany(items: readonly SetManyItem[], options?: { tx?: unknown }): Promise<SetView[]>
  /**
   * Declares a list of alarms, each by its key: call it at every start. It creates those that are missing, changes those
   * whose definition is another, and leaves the rest as they are.
   */
  apply(items: readonly DeclaredAlarm[], options?: ApplyOptions): Promise<Applied>
  /** The alarm, or null if this owner has none with this id or key. */
  get(alarm: AlarmRef): Promise<AlarmView | null>
  /** The same as `get({ key })`. */
  getByKey(key: string): Promise<AlarmView | null>
  list(options?: ListOptions): Promise<ListPage>
  reschedule(alarm: AlarmRef, when: When, options?: MoveOptions): Promise<AlarmView>
  /** Edits the alarm's options; with a `when` it is rescheduled in the same change. */
  edit(alarm: AlarmRef, fields: EditFields, options?: SeenOptions): Promise<AlarmView>
  cancel(
    alarm: AlarmRef,
    options?: SeenOptions & { tx?: unknown },
  ): Promise<{ outcome: CancelOutcome; alarm: AlarmView }>
  cancelMany(ids: readonly string[]): Promise<{ id: string; outcome: CancelOutcome | 'not_found' }[]>
  /** Cancels all alarms that match: those that are active or paused, if the filter has no status. */
  cancelMany(filter: BulkFilter, options?: BulkOptions): Promise<BulkResult>
  /** Pauses all active alarms that match. */
  pauseMany(filter: BulkFilter, options?: BulkOptions): Promise<BulkResult>
  /** Resumes all paused alarms that match. */
  resumeMany(filter: BulkFilter, options?: BulkOptions): Promise<BulkResult>
  removeSubject(subject: string, options?: { tx?: unknown }): Promise<{ cancelled: number; firing: number }>
  pause(alarm: AlarmRef, options?: SeenOptions): Promise<AlarmView>
  resume(alarm: AlarmRef, options?: SeenOptions): Promise<AlarmView>
  skipNext(alarm: AlarmRef, options?: SeenOptions): Promise<AlarmView>
  /**
   * Fires at another instant instead: `'10m'`, `'tomorrow at 9am'`. A one-shot alarm moves there, also if it has fired. A
   * recurring alarm keeps its rule, and one occurrence moves: the next one if it comes before that instant, else the last.
   */
  snooze(alarm: AlarmRef, when: When, options?: MoveOptions): Promise<AlarmView>
  fireNow(alarm: AlarmRef, options?: SeenOptions): Promise<AlarmView>
  retry(alarm: AlarmRef, options?: SeenOptions): Promise<AlarmView>
  complete(alarm: AlarmRef, result?: string, options?: { occurrenceId?: string }): Promise<AlarmView>
  fail(alarm: AlarmRef, reason?: string, options?: { occurrenceId?: string }): Promise<AlarmView>
  /** Cancels all pending alarms of this owner. */
  reset(): Promise<{ cancelled: number; firing: number }>
  /** Alarms by outcome, newest first: as many as requested, however large they are. */
  history(options?: HistoryOptions): Promise<AlarmView[]>
  /** The same in pages of limited size. */
  historyPage(options?: HistoryPageOptions): Promise<ListPage>
  stats(): Promise<StatsView>
  failed(options?: { limit?: number }): Promise<AlarmView[]>
  failedPage(options?: FailedPageOptions): Promise<ListPage>
  why(alarm: AlarmRef): Promise<Story>
  /** What a time would mean, or the `rule` of an alarm, without setting anything. */
  preview(when: When | Rule, options?: PreviewOptions): Preview
  parse(text: string, timezone?: string): ParsedView
  events(options?: EventsOptions): AsyncIterableIterator<EventView>
  /** The same in pages, each with the cursor to continue from, also where no event matches. */
  eventPages(options?: EventsOptions): AsyncIterableIterator<EventsPage>
  /** The cursor of the end of the log: `events({ after })` with it reads only later events. */
  newest(): Promise<string>
  /** Appends your own event to the log (its origin is `caught`). */
  append(event: OwnEventInput): Promise<EventView>
  /** The alarm as JSON text, as the HTTP API returns it, with its payload byte for byte. */
  wire(alarm: AlarmRef): Promise<string | null>
}

/** The reads of alarms. Across owners, a story and the JSON of `wire` have the alarm's tenant and owner, as views always do. */
export type AlarmReads = Pick<
  Alarms,
  | 'get'
  | 'list'
  | 'history'
  | 'historyPage'
  | 'stats'
  | 'failed'
  | 'failedPage'
  | 'why'
  | 'wire'
  | 'events'
  | 'newest'
>

/** The same in this process, where the log is also read in pages. */
export type LocalReads = AlarmReads & Pick<Alarms, 'eventPages'>

/** One owner's alarms, the engine that fires them, and views for other owners. */
export interface Wakeful extends Alarms {
  /** Registers the handler of a target. If it returns, the attempt succeeded; if it throws, the attempt failed. */
  handle(name: string, handler: Handler, options?: HandlerOptions): void
  /** Starts firing alarms. Everything else works without it. */
  start(): Promise<void>
  /** Fires what is due now, and resolves when it has settled. For serverless hosts and tests. */
  tick(): Promise<TickResult>
  /** Stops firing, waits up to 30 s for running deliveries, and closes the store. */
  close(): Promise<void>
  /** A view of the alarms of this tenant and owner, and of no others. */
  forTenant(tenant: string, owner?: string): Alarms
  /** The alarms of every owner of a tenant (by default your own), to read. */
  allOwners(tenant?: string): LocalReads
  /** The alarms of every tenant, to read. */
  allTenants(): LocalReads
  /** The process that runs each pool's clock, and what is pending there. */
  ownership(): Promise<ClockState[]>
  /** Whether this process holds the lease of a pool or shard, and so fires alarms. */
  readonly isOwner: boolean
  /** What a server needs besides the alarms. */
  readonly operator: Operator
  readonly limits: Limits
}

export type { Fire, Handler, LogEvent, ObservedAttempt, Observer, Stats, TenantsQuery }
