import type {
  Alarm,
  Change,
  Context,
  Decision,
  DeliveryOutcome,
  FieldFilters,
  NewTimer,
  ReadScope,
  Scope,
  Serial,
  Snapshot,
  State,
  Timer,
} from '../alarm/index.ts'
import type { HolidayCalendar } from '../time/index.ts'
import type { Documents } from './document.ts'
import type { EventPage, EventQuery, LogEvent, UserEvent } from './event-log.ts'
import type { FailurePage, FailureQuery } from './failures.ts'
import type { Inbox } from './inbox.ts'
import type { MissingHandler } from './missing-handlers.ts'
import type { Pruned } from './retention.ts'

/**
 * The port that every store implements. A store contains no rules: pure functions of `alarm/` decide, and the store applies
 * their decisions in one transaction. The conformance suite defines the behaviour.
 */
export interface Store extends StoreReads, Documents, Inbox {
  /** Writes new alarms, all or none. A known idempotency key returns its first alarm; a known key is set again, or stays unchanged. */
  set(requests: readonly SetRequest[], context: Context, tx?: unknown): Promise<SetResult[]>
  /** Reads, decides and writes the selected alarms in one transaction; `next` is where to continue. */
  edit<A>(
    scope: Scope,
    which: Selector,
    decide: Decide<A>,
    context: Context,
    tx?: unknown,
  ): Promise<EditResult<A>>

  /** Renews this process's leases, acquires free shards of these pools, and returns all its leases (promise: fenced). */
  heartbeat(holder: string, pools: readonly string[], context: Context): Promise<Lease[]>
  /** Releases leases, so that another process does not have to wait for their end. */
  releaseLeases(leases: readonly Lease[]): Promise<void>
  /** Releases all leases of a process that stops. The others no longer count it: they share its shards at once. */
  leave(process: string): Promise<void>
  /** Reads due timers, settles those that need no delivery, and records the rest as in flight. */
  claim(leases: readonly Lease[], request: ClaimRequest): Promise<Claimed>
  /** Writes outcomes. Rejects those of a lost lease, and skips timers that have changed since their claim. */
  settle(
    settlements: readonly Settlement[],
    acknowledged: readonly InFlightBatch[],
    context: Context,
  ): Promise<SettleResult>
  /** Runs work in a transaction that commits together with the settlement it returns, or not at all. */
  transact(
    lease: Lease,
    work: (tx: unknown) => Promise<Settlement>,
    context: () => Context,
  ): Promise<SettleResult>
  /** Makes up to `limit` timers that wait for a handler or an operator due again; returns how many. */
  requeueWaiting(leases: readonly Lease[], which: WaitingFilter, now: number, limit: number): Promise<number>
  /** The names of the targets, up to `limit`, whose timers an operator's pause stops in these shards. */
  pausedTargets(leases: readonly Lease[], limit: number): Promise<string[]>

  /** Applies a decision, which computes pending instants again, to live alarms of all owners; `next` is where to continue. */
  recomputeInstants(
    which: RecomputeFilter,
    decide: (snapshot: Snapshot) => Change | null,
    context: Context,
  ): Promise<RecomputeResult>
  /** Writes a tenant's calendar; writes nothing if its days are unchanged. */
  putCalendar(tenant: string, calendar: NewCalendar, context: Context): Promise<HolidayCalendar>
  /** Deletes a calendar; false if there is none. Refused (`conflict`) while a live alarm names it. */
  removeCalendar(tenant: string, name: string): Promise<boolean>
  /** Records that the instants of all alarms that name a calendar were computed again with this version of it. */
  markCalendarRecomputed(tenant: string, calendar: Pick<HolidayCalendar, 'name' | 'version'>): Promise<void>
  /** Writes a value about the store as a whole. */
  putMeta(name: string, value: string): Promise<void>

  /** Appends a user's event. */
  append(scope: Scope, event: UserEvent): Promise<LogEvent>
  /**
   * Continues through the events from before an instant, by up to `limit` of them. Deletes ended alarms with all their events,
   * the events of other alarms except the newest `EVENTS_KEPT` of each, and up to `limit` wakes that were not fetched. `prunedTo`
   * then has the newest of the deleted events.
   */
  prune(before: number, limit: number): Promise<Pruned>
  /**
   * Calls back when another process may have changed something: timers or shards, or the log if `about` is `log`. Returns a
   * function that stops it.
   */
  onChange(listener: (change: ChangeKind) => void, about?: 'clock' | 'log'): () => void
  close(): Promise<void>
}

/** What another process may have changed: timers to claim, shards to acquire, the log to read. */
export type ChangeKind = 'timers' | 'shards' | 'log'

/** The reads of a store. */
export interface StoreReads {
  /** How long a lease lasts, and how often `heartbeat` renews it. */
  readonly leaseMs: number
  readonly heartbeatMs: number
  /** The alarm with this name. Across owners only an id names one: a key belongs to one owner. */
  get(scope: ReadScope, by: AlarmName): Promise<Snapshot | null>
  list(scope: ReadScope, query: ListQuery): Promise<Page>
  /** What failed or timed out and still counts as such, newest first: occurrences of recurring alarms, and one-shot alarms. */
  failures(scope: ReadScope, query: FailureQuery): Promise<FailurePage>
  stats(scope: ReadScope): Promise<Stats>
  /** The next tenants after a name, in the store's order: all that have alarms, events, calendars, or documents of these kinds. */
  tenants(query: TenantsQuery): Promise<TenantStats[]>
  /** How many alarms of a tenant are pending, over all its owners. */
  countPending(tenant: string): Promise<number>
  /** Whether the database accepts writes; false for a standby or a read-only database. */
  isWritable(): Promise<boolean>
  /** How many wakes are in all inboxes, up to `limit`. */
  countInboxWakes(limit: number): Promise<number>
  /** A page of the log after a position, oldest first; of one alarm if it is named. */
  events(scope: ReadScope, query: EventQuery): Promise<EventPage>
  /** The first event after a position; null if there is none. */
  firstEventAfter(position: Serial): Promise<Pick<LogEvent, 'seq' | 'at'> | null>
  /** The newest event that retention has deleted of this scope; null if none. A reader that continues from before it has missed events. */
  prunedTo(scope: ReadScope): Promise<Serial | null>
  /** An alarm and its newest events in log order, as of one moment; null if the scope has no such alarm. */
  story(scope: ReadScope, alarmId: string, limit: number): Promise<StoredStory | null>
  /** The end of the log. */
  lastEvent(): Promise<Serial>
  /** The newest instant in the store; null if it is empty. A wall clock that is years from it is not trusted. */
  newestInstant(): Promise<number | null>
  /** The earliest wake of these shards that is not in flight. */
  nextWakeAt(leases: readonly Lease[], inFlight: InFlightTimers): Promise<number | null>
  /** A tenant's calendars by name. A store behind a network returns a cached copy. */
  calendars(tenant: string): readonly HolidayCalendar[]
  /** Refreshes that copy. */
  readCalendars(): Promise<void>
  /** Edited calendars whose alarms have not all been computed again. */
  calendarsToRecompute(): Promise<readonly EditedCalendar[]>
  getMeta(name: string): Promise<string | null>
  /** Handlers that were missing when something came due by this instant, and still are; the longest missing first. */
  missingHandlers(dueBy: number, limit: number): Promise<MissingHandler[]>
  /**
   * The lease holder of each shard and what is pending there, of all pools or of those named. Pending rows are counted one by
   * one, unless `counts` is false or asks for what is due by an instant: then at most `DUE_COUNTED_MAX` of each shard.
   */
  shardStates(counts?: CountOption, pools?: readonly string[]): Promise<ShardState[]>
}

/** The ways to name one of an owner's alarms. */
export type AlarmName =
  | { readonly id: string }
  | { readonly key: string }
  | { readonly idempotencyKey: string }

/** An alarm and its events. */
export interface StoredStory {
  readonly snapshot: Snapshot
  readonly events: readonly LogEvent[]
}

/** A new alarm with its first timer. */
export interface SetRequest {
  readonly alarm: Alarm
  readonly timer: NewTimer
  /** Whether a pause of the alarm with this key ends. */
  readonly resumes?: boolean | undefined
}

/** The result of a set. */
export interface SetResult {
  readonly snapshot: Snapshot
  /** `created`; its key was known: `replaced`, `restarted` if it had ended, or `unchanged`; its idempotency key was: `deduped`. */
  readonly outcome: 'created' | 'replaced' | 'restarted' | 'unchanged' | 'deduped'
}

/** Which alarms an edit selects; up to `limit` in one transaction. */
export type Selector =
  /** With the occurrence that a report names: whether it has timed out is read too. */
  | { readonly id: string; readonly occurrenceId?: string | undefined }
  | { readonly key: string; readonly occurrenceId?: string | undefined }
  | { readonly ids: readonly string[] }
  | { readonly subject: string; readonly after?: Serial; readonly limit: number }
  | { readonly declaredBy: string; readonly after?: Serial; readonly limit: number }
  | { readonly pending: true; readonly after?: Serial; readonly limit: number }

/** A pure decision over one alarm. */
export type Decide<A> = (snapshot: Snapshot) => { readonly change: Change; readonly answer: A }

/** What an edit did to one alarm. */
export interface Edited<A> {
  readonly answer: A
  /** The alarm after this edit; later edits are not visible in it. */
  readonly snapshot: Snapshot
}

/** What an edit did to each alarm, and where to continue when the limit cut the selection short. */
export interface EditResult<A> {
  readonly results: readonly Edited<A>[]
  readonly next: Serial | null
}

/**
 * Which waiting timers to requeue: those that wait for a handler, or those that an operator's pause of a tenant or a target
 * (by name) stops, the longest paused first.
 */
export type WaitingFilter =
  | { readonly handler: string }
  | { readonly pausedTenant: string }
  | { readonly pausedTarget: string }

/** Which live alarms to compute again: those of a tenant that name calendars, or all whose instants depend on a zone. */
export type RecomputeFilter =
  | { readonly calendarsOf: string; readonly after: Serial; readonly limit: number }
  | { readonly zoned: true; readonly after: Serial; readonly limit: number }

/** How many alarms changed, and where to continue. */
export interface RecomputeResult {
  readonly changed: number
  readonly next: Serial | null
}

/** A calendar to write; the store sets its version. */
export type NewCalendar = Omit<HolidayCalendar, 'version'>

/** A calendar that was edited. */
export interface EditedCalendar {
  readonly tenant: string
  readonly name: string
  readonly version: number
}

/** The right of one process to deliver the timers of a shard. */
export interface Lease {
  readonly shard: number
  readonly pool: string
  readonly holder: string
  readonly epoch: number
  /** On the monotonic clock: no delivery may start from this instant on. */
  readonly until: number
}

/** A batch of timers that is recorded as being delivered. */
export interface InFlightBatch {
  readonly id: Serial
  readonly shard: number
}

/** An occurrence to deliver. */
export interface ClaimedTimer {
  readonly lease: Lease
  readonly batch: InFlightBatch
  readonly alarm: Alarm
  readonly timer: Timer
  /** Set by the engine: whether a limit or an operator's pause deferred it when it was due. */
  readonly isDeferred?: boolean
}

/** What to claim. */
export interface ClaimRequest {
  readonly context: Context
  readonly limit: number
  readonly inFlight: InFlightTimers
  /** Tenants over their limit: nothing of theirs is claimed. */
  readonly skipTenants?: ReadonlySet<string>
  /** Owners over their limit, by `ownerKey`; only together with `skipTenants`. */
  readonly skipOwners?: ReadonlySet<string>
  readonly triage: (found: DueTimer) => Decision
  /** Whether the claim should end here, because it has lasted too long. The next one continues. */
  readonly isOverTime: () => boolean
}

/** The timers this process has in flight, by id and version. Claims skip them. */
export interface InFlightTimers {
  readonly size: number
  has(id: Serial, version: number): boolean
}

/** A due timer with its alarm; `others` is set when the triage needs the alarm's other timers. */
export interface DueTimer {
  readonly alarm: Alarm
  readonly timer: Timer
  readonly others: readonly Timer[] | null
  /** The alarm's occurrences that are still open. */
  readonly openCount: number
}

/** The result of a claim. */
export interface Claimed {
  readonly timers: readonly ClaimedTimer[]
  /** When to claim again: the earliest wake that was not claimed. */
  readonly nextWakeAt: number | null
  /** Leases that another process has taken over. */
  readonly lost: readonly Lease[]
  /** Whether more was due than the limit, or the triage left a timer due. */
  readonly more: boolean
}

/** The outcome of one delivery. */
export interface Settlement {
  readonly lease: Lease
  readonly alarm: Alarm
  readonly timer: Timer
  readonly delivery: DeliveryOutcome
  readonly isDeferred?: boolean
}

/** The result of a settle. */
export interface SettleResult {
  readonly lost: readonly Lease[]
  /** Outcomes of timers that had changed: of a previous lease holder, or sent twice. */
  readonly stale: number
}

/** Which alarms to list, and in which order. */
export interface ListQuery extends FieldFilters {
  readonly states?: readonly State[] | undefined
  readonly target?: string | undefined
  /** Words to search for in label, message, key and subject. */
  readonly text?: string | undefined
  /** Only alarms created at or after this instant. */
  readonly since?: number | undefined
  /** `newest` first, or the next to fire first (`due`, live alarms only). */
  readonly order: 'newest' | 'due'
  readonly limit: number
  /** Where the previous page ended. */
  readonly after?: ListPosition | undefined
}

/** A position in a list: the row and, in due order, its instant. */
export interface ListPosition {
  readonly row: Serial
  readonly at?: number
}

/** A page of a list; it ends at its limit or at `PAGE_BYTES_MAX` of content. */
export interface Page {
  readonly items: readonly Snapshot[]
  readonly next: ListPosition | null
}

/** Which tenants to read. */
export interface TenantsQuery {
  /** The last tenant of the previous page; empty for the first page. */
  readonly after: string
  readonly limit: number
  /** The kinds of documents whose tenants count. */
  readonly documentKinds: readonly string[]
}

/** A tenant with its tallies. */
export interface TenantStats {
  readonly tenant: string
  readonly stats: Stats
}

/** How many alarms there are with each outcome. */
export interface Stats {
  readonly total: number
  readonly pending: number
  readonly fired: number
  readonly completed: number
  readonly failed: number
  readonly cancelled: number
  readonly timedOut: number
  readonly avgDurationMs: number | null
}

/** What to count of each shard: everything pending (true), nothing (false), or what is due by an instant. */
export type CountOption = boolean | { readonly dueBy: number }

/** How many due timers of a shard are counted at most, so that counting a backlog stays cheap. */
export const DUE_COUNTED_MAX = 10_000

/** The state of a shard. */
export interface ShardState {
  readonly shard: number
  readonly pool: string
  readonly holder: string | null
  readonly epoch: number
  readonly pending: number
  readonly nextWakeAt: number | null
}

/** The version of the zone data that pending instants were computed with, in `meta`. */
export const ZONE_DATA_META = 'zone_data'

/** The fingerprint of the secret that signs webhooks and encrypts their headers, in `meta`. */
export const SECRET_META = 'secret_fingerprint'
