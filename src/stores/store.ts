import type {
  Alarm,
  AlarmEventType,
  Change,
  Context,
  DeliveryOutcome,
  FieldFilters,
  NewTimer,
  Origin,
  Scope,
  Serial,
  Snapshot,
  State,
  Timer,
  Verdict,
} from '../alarm/index.ts'
import type { HolidayCalendar } from '../time/index.ts'
import type { Documents } from './document.ts'
import type { Inbox } from './inbox.ts'

/**
 * The port every store keeps. A store holds no rules of its own: pure functions of `alarm/` decide, and the store
 * applies what they decided in one transaction. The conformance suite says what "keeps" means.
 */
export interface Store extends StoreReads, Documents, Inbox {
  /** Writes new alarms, all or none: known idempotency keys answer with the first, known keys are set again. */
  set(requests: readonly SetRequest[], context: Context, tx?: unknown): Promise<SetResult[]>
  /** Reads, decides and writes alarms one by one in one transaction; `next` says where to go on. */
  edit<A>(
    scope: Scope,
    which: Selector,
    decide: Decide<A>,
    context: Context,
    tx?: unknown,
  ): Promise<EditResult<A>>

  /** Claims and renews the shards of these pools, and says which are now held: the heartbeat (promise: fenced). */
  heartbeat(owner: string, pools: readonly string[], context: Context): Promise<Lease[]>
  /** Gives shards back at once, so that another process need not wait for the lease to end. */
  releaseLeases(leases: readonly Lease[]): Promise<void>
  /** Reads what is due, settles what needs no delivery, and records the rest as in flight. */
  claim(leases: readonly Lease[], request: ClaimRequest): Promise<Claimed>
  /** Writes outcomes; void for a lease that is no longer the shard's, or a timer that has moved on. */
  settle(
    settlements: readonly Settlement[],
    landed: readonly InFlightBatch[],
    context: Context,
  ): Promise<SettleResult>
  /** Runs work in a transaction of its own, which commits with the settlement it answers, or not at all. */
  transact(
    lease: Lease,
    work: (tx: unknown) => Promise<Settlement>,
    context: () => Context,
  ): Promise<SettleResult>
  /** Puts timers that wait for a handler, or for an operator, back in the queue, at most so many; answers how many. */
  requeueWaiting(leases: readonly Lease[], which: WaitingFilter, now: number, limit: number): Promise<number>
  /** The names of the targets of what an operator holds in these shards, each once, at most so many. */
  pausedTargets(leases: readonly Lease[], limit: number): Promise<string[]>

  /** Lets a decision look at live alarms again, whoever's they are; `next` says where to go on. */
  review(
    which: ReviewFilter,
    decide: (snapshot: Snapshot) => Change | null,
    context: Context,
  ): Promise<ReviewResult>
  /** Writes a tenant's calendar; the same days again are no edit. */
  putCalendar(tenant: string, calendar: NewCalendar, context: Context): Promise<HolidayCalendar>
  /** Deletes a calendar, false where there is none; refused (`conflict`) while a live alarm names it. */
  removeCalendar(tenant: string, name: string): Promise<boolean>
  /** Says that the alarms which name a calendar stand by this version of it. */
  calendarReviewed(tenant: string, calendar: Pick<HolidayCalendar, 'name' | 'version'>): Promise<void>
  /** Keeps a fact about the store as a whole. */
  putMeta(name: string, value: string): Promise<void>

  /** Appends an event of a user's own. */
  append(scope: Scope, event: UserEvent): Promise<LogEvent>
  /**
   * Deletes ended alarms with their events, and wakes that nobody fetched, a bounded number at a time; answers how many. The
   * owner's fact `goneFact` then names the newest of the deleted events.
   */
  prune(endedBefore: number, limit: number): Promise<number>
  /** Calls back when another process may have changed something about the clocks, or the log. Answers how to stop. */
  onChange(listener: (news: ChangeKind) => void, about?: 'clock' | 'log'): () => void
  close(): Promise<void>
}

/** What another process may have changed: timers to look at, shards to claim, the log to read. */
export type ChangeKind = 'timers' | 'shards' | 'log'

/** What can be asked without changing anything. */
export interface StoreReads {
  /** How long a lease lasts, and how often `own` renews it. */
  readonly leaseMs: number
  readonly heartbeatMs: number
  get(
    scope: Scope,
    by: { id: string } | { key: string } | { idempotencyKey: string },
  ): Promise<Snapshot | null>
  list(scope: Scope, query: ListQuery): Promise<Page>
  stats(scope: Scope): Promise<Stats>
  /** How many alarms of a tenant are still to fire, over all its owners. */
  countPending(tenant: string): Promise<number>
  /** Whether it takes writes: a standby answers, and a database that was set read-only. */
  isWritable(): Promise<boolean>
  /** How many wakes lie in all inboxes, as far as `limit`. */
  countInboxWakes(limit: number): Promise<number>
  /** Events after a place in the log, oldest first; of one alarm where it is named. `isCut` says whether there may be more. */
  events(scope: Scope, query: { after: Serial; limit: number; alarmId?: string }): Promise<LogEvent[]>
  /** An alarm and its newest events, oldest of them first, as of one moment; null where this owner has none. */
  story(scope: Scope, alarmId: string, limit: number): Promise<StoredStory | null>
  /** The newest place in the log. */
  lastEvent(): Promise<Serial>
  /** The newest moment the store has a record of; null while it is empty. A clock that is years from it is not believed. */
  newestInstant(): Promise<number | null>
  /** The earliest wake among these shards that is not held. */
  nextWakeAt(leases: readonly Lease[], held: InFlightTimers): Promise<number | null>
  /** A tenant's calendars by name, as they stand: a store behind a network answers from a copy that it keeps fresh. */
  calendars(tenant: string): readonly HolidayCalendar[]
  /** Freshens that copy. */
  readCalendars(): Promise<void>
  /** Edited calendars whose alarms have not all been looked at again. */
  unreviewedCalendars(): Promise<readonly EditedCalendar[]>
  getMeta(name: string): Promise<string | null>
  /**
   * Who runs the clock of each pool, and what waits there. That is counted row by row, unless nobody asks for it (false),
   * or asks for what is due by a moment: then no more than `DUE_COUNTED_MAX` of each shard are counted. Of all pools,
   * unless some are named.
   */
  shardStates(counts?: CountOption, pools?: readonly string[]): Promise<ShardState[]>
}

/** An alarm and what became of it. */
export interface StoredStory {
  readonly snapshot: Snapshot
  readonly events: readonly LogEvent[]
}

/** A new alarm with its first timer. */
export interface SetRequest {
  readonly alarm: Alarm
  readonly timer: NewTimer
}

/** What a set came to. */
export interface SetResult {
  readonly snapshot: Snapshot
  /** `created`, or `replaced` (its key was known), or `deduped` (its idempotency key was). */
  readonly outcome: 'created' | 'replaced' | 'deduped'
}

/** Which alarms an edit is about. At most `limit` are taken in one transaction. */
export type Selector =
  | { readonly id: string }
  | { readonly key: string }
  | { readonly ids: readonly string[] }
  | { readonly subject: string; readonly after?: Serial; readonly limit: number }
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
 * Whose timers are put back: those that wait for a handler; those that an operator holds of a tenant, or of a target by its
 * name, the longest held first.
 */
export type WaitingFilter =
  | { readonly handler: string }
  | { readonly pausedTenant: string }
  | { readonly pausedTarget: string }

/** Which live alarms a review looks at: those of a tenant that name calendars, or all on a zone's wall clock. */
export type ReviewFilter =
  | { readonly calendarsOf: string; readonly after: Serial; readonly limit: number }
  | { readonly zoned: true; readonly after: Serial; readonly limit: number }

/** What a review came to: how many alarms it changed, and where to go on. */
export interface ReviewResult {
  readonly changed: number
  readonly next: Serial | null
}

/** A calendar to be written: the store gives it its version. */
export type NewCalendar = Omit<HolidayCalendar, 'version'>

/** A calendar that was edited. */
export interface EditedCalendar {
  readonly tenant: string
  readonly name: string
  readonly version: number
}

/** The right to run a shard's clock. */
export interface Lease {
  readonly shard: number
  readonly pool: string
  readonly holder: string
  readonly epoch: number
  /** On the monotonic clock: nothing may be started from this moment on. */
  readonly until: number
}

/** A batch that was recorded as being delivered. */
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
}

/** What to take. */
export interface ClaimRequest {
  readonly context: Context
  readonly limit: number
  readonly inFlight: InFlightTimers
  /** Tenants that have enough: nothing of theirs is taken, however much of it is due. */
  readonly avoid?: ReadonlySet<string>
  /** Owners that have enough, each as `ownerKey` names it; only beside `avoid`. */
  readonly avoidOwners?: ReadonlySet<string>
  readonly triage: (found: DueTimer) => Verdict
  /** Whether the take has lasted long enough: what is left is taken by the next one. */
  readonly isLong: () => boolean
}

/** An owner's name among those of all tenants. */
export function ownerKey({ tenant, owner }: Scope): string {
  return `${tenant}\0${owner}`
}

/** Timers this process holds already, by id and version: a look passes over them. */
export interface InFlightTimers {
  readonly size: number
  has(id: Serial, version: number): boolean
}

/** A due timer with its alarm; `others` is filled in when the triage asked to look. */
export interface DueTimer {
  readonly alarm: Alarm
  readonly timer: Timer
  readonly others: readonly Timer[] | null
  /** The alarm's occurrences that are still open. */
  readonly openCount: number
}

/** What a take brought. */
export interface Claimed {
  readonly timers: readonly ClaimedTimer[]
  /** When to look again: the earliest wake that was not taken. */
  readonly nextWakeAt: number | null
  /** Leases that turned out to be another's by now. */
  readonly lost: readonly Lease[]
  /** Whether more was due than the limit allowed, or something was passed. */
  readonly more: boolean
}

/** The outcome of one delivery, with how to decide what it writes. */
export interface Settlement {
  readonly lease: Lease
  readonly alarm: Alarm
  readonly timer: Timer
  readonly delivery: DeliveryOutcome
}

/** What a settle came to. */
export interface SettleResult {
  readonly lost: readonly Lease[]
  /** Outcomes of timers that had moved on: a former owner's, or sent twice. */
  readonly stale: number
}

/** A row of the log. */
export interface LogEvent extends Scope {
  readonly seq: Serial
  readonly id: string
  readonly type: AlarmEventType | (string & {})
  readonly origin: Origin
  readonly alarmId: string | null
  readonly occurrenceId: string | null
  readonly key: string | null
  readonly subject: string | null
  readonly correlationId: string | null
  readonly at: number
  /** JSON text. */
  readonly data: string
}

/** An event that a user appends. */
export interface UserEvent {
  readonly id: string
  readonly type: string
  readonly at: number
  readonly subject: string | null
  readonly correlationId: string | null
  readonly data: string
}

/** Which alarms to list, and in which order. */
export interface ListQuery extends FieldFilters {
  readonly states?: readonly State[] | undefined
  readonly target?: string | undefined
  /** Words to look for in label, message, key and subject. */
  readonly text?: string | undefined
  /** Only alarms created at or after this moment. */
  readonly since?: number | undefined
  /** `newest` first, or the next to fire first (`due`: live alarms only). */
  readonly order: 'newest' | 'due'
  readonly limit: number
  /** Where the page before this one ended. */
  readonly after?: ListPosition | undefined
}

/** A place in a list: the row's own, and in due order its instant too. */
export interface ListPosition {
  readonly row: Serial
  readonly at?: number
}

/** A page of a list: it ends where its limit says, or with `PAGE_BYTES_MAX` of content. */
export interface Page {
  readonly items: readonly Snapshot[]
  readonly next: ListPosition | null
}

/** The figures of one owner. */
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

/** What is counted of each shard: all that waits (true), nothing (false), or what is due by a moment. */
export type CountOption = boolean | { readonly dueBy: number }

/** So many due timers of a shard are counted: a backlog is a backlog, and counting it must not add to it. */
export const DUE_COUNTED_MAX = 10_000

/** Who runs a shard's clock. */
export interface ShardState {
  readonly shard: number
  readonly pool: string
  readonly holder: string | null
  readonly epoch: number
  readonly pending: number
  readonly nextWakeAt: number | null
}

/** The fact under which a store keeps the version of the zone data its pending instants were found with. */
export const ZONE_DATA_META = 'zone_data'
