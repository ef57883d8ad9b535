import { randomUUID } from 'node:crypto'
import type { Change, Context, Scope, Snapshot } from '../../alarm/index.ts'
import type { Clock, HolidayCalendar } from '../../time/index.ts'
import type {
  ChangeKind,
  Claimed,
  ClaimRequest,
  CountOption,
  Decide,
  EditResult,
  InFlightBatch,
  InFlightTimers,
  Lease,
  NewCalendar,
  PortableLine,
  PortableRow,
  ReviewFilter,
  ReviewResult,
  Selector,
  SetRequest,
  SetResult,
  Settlement,
  SettleResult,
  ShardState,
  Store,
  WaitingFilter,
} from '../index.ts'
import {
  Claims,
  DatabaseClock,
  type HeartbeatResult,
  NextWakeCache,
  RECENT_MS,
  ShardLeases,
} from '../sharded/index.ts'
import {
  heldTargets,
  LostLeases,
  type Outcomes,
  PostgresClaimStatements,
  releaseWaiting,
  settleApart,
  settleTogether,
  transact,
} from './claims/index.ts'
import {
  Database,
  type DatabaseOptions,
  Growth,
  isStoreError,
  Listener,
  type Session,
} from './connection/index.ts'
import { heartbeatResult, heartbeatValues, Notifier, PostgresLeaseStatements } from './leases/index.ts'
import { PostgresRecords } from './reads/index.ts'
import {
  inWriteBatch,
  noticeOf,
  putCalendar,
  readShards,
  removeCalendar,
  ShardMap,
  type StoreContext,
  WriteBatch,
} from './rows/index.ts'
import { migrate, SHARDS } from './schema/index.ts'
import * as sql from './sql/index.ts'
import { exportLines, importBatch } from './transfer/index.ts'
import { isKeyed, reviewSelected, UserTransactions, Writers } from './writes/index.ts'

/** How a PostgreSQL store is opened. */
export interface PostgresOptions extends DatabaseOptions {
  /** The host's clock, for waiting and for what passes between two looks at the database's. */
  readonly clock: Clock
  /** Whether that clock is the authority instead of the database's: for tests in virtual time. */
  readonly clockIsAuthority?: boolean
  readonly leaseMs?: number
  readonly heartbeatMs?: number
  /** Shards per pool (64); fixed when the tables are made. */
  readonly shards?: number
}

const LEASE_MS = 5_000
const HEARTBEAT_MS = 2_000
/** What wakes within a beat and this much more is told at once: the beat that would find it may come a little late. */
const TELL_MARGIN_MS = 1_000
const CLOCK_SAMPLES = 3
/** A lease ends this much before its time is over, so that whoever takes over has done so by then. */
const TAKEOVER_MS = 200

/** Opens a store in a PostgreSQL database, creating or upgrading its tables. */
export async function openPostgres(options: PostgresOptions): Promise<PostgresStore> {
  const database = await Database.open(options)
  try {
    await migrate(database, options.clock.now(), { shards: options.shards ?? SHARDS })
    const shards = Number((await database.session.row(sql.meta, 'shards'))![0])
    const store = new PostgresStore(database, options, shards)
    for (let i = 0; i < CLOCK_SAMPLES; i++) await store.sampleClock()
    await store.readCalendars()
    return store
  } catch (thrown) {
    await database.close()
    throw database.failure(thrown)
  }
}

/** The store in a PostgreSQL database: many processes, each the owner of some shards. */
export class PostgresStore extends PostgresRecords implements Store {
  readonly leaseMs: number
  readonly heartbeatMs: number
  /** The time by which alarms fire: the database's own, as this process knows it. */
  readonly clock: Clock
  readonly #host: Clock
  readonly #databaseClock: DatabaseClock | null
  readonly #office: StoreContext
  readonly #shards: ShardMap
  readonly #lookout = new NextWakeCache()
  readonly #bells: Notifier
  readonly #listener: Listener
  readonly #leases: ShardLeases
  readonly #claims: Claims
  readonly #writers: Writers
  readonly #guests: UserTransactions
  readonly #growth: Growth
  #sampling: Promise<void> | null = null

  constructor(database: Database, options: PostgresOptions, shardsPerPool: number) {
    super(database)
    const { clock: host } = options
    this.leaseMs = options.leaseMs ?? LEASE_MS
    this.heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS
    this.#host = host
    this.#databaseClock =
      options.clockIsAuthority === true
        ? null
        : new DatabaseClock(host, () => void this.sampleClock().catch(() => {}))
    this.clock = this.#databaseClock ?? host
    this.#shards = new ShardMap(database, shardsPerPool)
    const channel = `wakeful_${database.schema}`
    this.#office = {
      shards: this.#shards,
      channel,
      teller: randomUUID(),
      moment: () => (this.#databaseClock === null ? host.now() : null),
      isSoon: (wakeAt) => wakeAt < this.clock.now() + this.heartbeatMs + TELL_MARGIN_MS,
      holds: (shard) => this.#leases.holds(shard),
    }
    this.#bells = new Notifier(database)
    this.#listener = new Listener({
      database,
      channel,
      answerMsMax: this.heartbeatMs,
      onNotice: (text) => this.#hear(text),
      onListening: () => this.#catchUp(),
    })
    const write = <T>(work: (batch: WriteBatch) => Promise<T>) => this.#write(work)
    const { session } = database
    const { moment } = this.#office
    this.#leases = new ShardLeases({
      clock: host,
      leaseMs: Math.max(this.leaseMs / 2, this.leaseMs - TAKEOVER_MS),
      statements: new PostgresLeaseStatements({ session, shards: this.#shards, channel, moment, write }),
      sendHeartbeat: async (request) =>
        heartbeatResult(await this.#listener.beat(...heartbeatValues(request, moment()))),
      nextWakes: this.#lookout,
      onHeartbeat: (...heartbeat) => this.#noteHeartbeat(...heartbeat),
      heartbeatIn: (inMs) => this.#bells.ringIn(inMs, 'shards'),
    })
    this.#claims = new Claims({
      statements: new PostgresClaimStatements(database, write),
      clock: host,
      nextWakes: this.#lookout,
    })
    this.#writers = new Writers(database, this.#shards, this.#lookout, write)
    this.#guests = new UserTransactions(database)
    this.#growth = new Growth(database)
  }

  set(requests: readonly SetRequest[], context: Context, tx?: unknown): Promise<SetResult[]> {
    return this.guard(() =>
      tx === undefined
        ? this.#writers.set({ requests, context })
        : this.#asGuest(tx, requests.some(isKeyed), (desk) =>
            this.#writers.setIn(desk, { requests, context }),
          ),
    )
  }

  edit<A>(
    scope: Scope,
    which: Selector,
    decide: Decide<A>,
    context: Context,
    tx?: unknown,
  ): Promise<EditResult<A>> {
    const job = { scope, which, decide, context }
    const edited = this.guard(() =>
      tx === undefined
        ? this.#writers.edit(job)
        : this.#asGuest(tx, true, (desk) => this.#writers.editIn(desk, job)),
    )
    return edited as Promise<EditResult<A>>
  }

  heartbeat(process: string, pools: readonly string[], context: Context): Promise<Lease[]> {
    return this.guard(() => this.#leases.heartbeat(process, pools, context))
  }

  releaseLeases(leases: readonly Lease[]): Promise<void> {
    return this.guard(() => this.#leases.release(leases))
  }

  claim(leases: readonly Lease[], request: ClaimRequest): Promise<Claimed> {
    const claiming = leases.filter((lease) => !this.#leases.isRetiring(lease))
    return this.guard(async () => {
      const claimed = await this.#claims.claim(claiming, request, this.#listener.isListening)
      // What is known of the clock loses half a millisecond a second: while alarms fire, it is worth a look of its own.
      if (claimed.timers.length > 0) this.#databaseClock?.refresh()
      return claimed
    })
  }

  settle(
    settlements: readonly Settlement[],
    landed: readonly InFlightBatch[],
    context: Context,
  ): Promise<SettleResult> {
    const outcomes = { settlements, landed, context }
    return this.guard(async () => {
      const settled = await this.#write((desk) => settleTogether(desk, outcomes)).catch((thrown: unknown) => {
        if (isStoreError(thrown)) throw thrown
        return this.#settleCarefully(outcomes, thrown)
      })
      this.#claims.acknowledged(landed)
      return settled
    })
  }

  transact(
    lease: Lease,
    work: (tx: unknown) => Promise<Settlement>,
    context: () => Context,
  ): Promise<SettleResult> {
    const ports = { database: this.database, office: this.#office, note: this.#noteWrites }
    return this.guard(() => transact(ports, lease, work, context))
  }

  requeueWaiting(
    leases: readonly Lease[],
    which: WaitingFilter,
    now: number,
    limit: number,
  ): Promise<number> {
    return this.guard(async () => {
      if (leases.length === 0) return 0
      const released = await releaseWaiting(this.database.session, leases, which, now, limit)
      if (released > 0) this.#lookout.sweep()
      return released
    })
  }

  pausedTargets(leases: readonly Lease[], limit: number): Promise<string[]> {
    return this.guard(() => heldTargets(this.database.session, leases, limit))
  }

  review(
    which: ReviewFilter,
    decide: (snapshot: Snapshot) => Change | null,
    context: Context,
  ): Promise<ReviewResult> {
    return this.guard(() => this.#write((desk) => reviewSelected(desk, which, decide, context)))
  }

  putCalendar(tenant: string, calendar: NewCalendar, context: Context): Promise<HolidayCalendar> {
    return this.#editCalendars((session) => putCalendar(session, tenant, calendar, context))
  }

  removeCalendar(tenant: string, name: string): Promise<boolean> {
    return this.#editCalendars((session) => removeCalendar(session, tenant, name))
  }

  /** Writes a batch of an export's lines; what is here already is passed over. */
  import(lines: readonly PortableRow[], context: Context): Promise<number> {
    return this.guard(() => importBatch((work) => this.#write(work), lines, context))
  }

  /** Everything as it stands at this moment, line by line. */
  export(): AsyncGenerator<PortableLine> {
    return exportLines(this.database, this.clock.now())
  }

  onChange(listener: (news: ChangeKind) => void, about: 'clock' | 'log' = 'clock'): () => void {
    this.database.assertOpen()
    this.#listener.start()
    return this.#bells.add(listener, about)
  }

  nextWakeAt(leases: readonly Lease[], inFlight: InFlightTimers): Promise<number | null> {
    return this.guard(() => this.#claims.nextWakeAt(leases, inFlight, this.clock.now()))
  }

  shardStates(counts?: CountOption, pools?: readonly string[]): Promise<ShardState[]> {
    return this.guard(() => readShards(this.database, this.#office.moment(), counts, pools))
  }

  async close(): Promise<void> {
    this.#bells.close()
    await this.#writers.settled()
    await this.#listener.close()
    await this.database.close()
  }

  /** Measures the database's clock. */
  sampleClock(): Promise<void> {
    const clock = this.#databaseClock
    if (clock === null) return Promise.resolve()
    this.#sampling ??= (async () => {
      try {
        const sentAt = this.#host.monotonic()
        const [now] = (await this.database.session.row(sql.clockNowUs))!
        clock.sample((now as number) / 1000, sentAt, this.#host.monotonic())
      } finally {
        this.#sampling = null
      }
    })()
    return this.#sampling
  }

  /** Without those that were lost, if that was it; else one by one. */
  async #settleCarefully(outcomes: Outcomes, thrown: unknown): Promise<SettleResult> {
    if (thrown instanceof LostLeases) {
      try {
        return await this.#write((desk) => settleTogether(desk, outcomes, thrown.leases))
      } catch (again) {
        if (isStoreError(again)) throw again
      }
    }
    return this.#write((desk) => settleApart(desk, outcomes))
  }

  /** Runs work in a transaction, tells others of what it wrote, and notes it when it is committed. */
  #write<T>(work: (desk: WriteBatch) => Promise<T>): Promise<T> {
    return inWriteBatch(this.database, this.#office, work, this.#noteWrites)
  }

  /** Edits the calendars, tells the others, and knows them itself before it answers. */
  async #editCalendars<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const answer = await this.guard(() =>
      this.#write(async (desk) => {
        const done = await work(desk.session)
        desk.tellCalendars()
        return done
      }),
    )
    await this.readCalendars()
    return answer
  }

  async #asGuest<T>(tx: unknown, looks: boolean, work: (desk: WriteBatch) => Promise<T>): Promise<T> {
    return this.#guests.within(tx, looks, async (session) => {
      const desk = new WriteBatch(session, this.#office, true)
      const answer = await work(desk)
      await desk.finish()
      return answer
    })
  }

  readonly #noteWrites = ({ writes }: WriteBatch): void => {
    for (const [shard, wakeAt] of writes.wakes) this.#lookout.lower(shard, wakeAt)
    this.#growth.note(writes.rows)
  }

  #noteHeartbeat(result: HeartbeatResult, sentAt: number, answeredAt: number): void {
    this.#databaseClock?.sample(result.now, sentAt, answeredAt)
    if (this.#lookout.heardOf(result.nextWakes)) this.#bells.ring('timers')
  }

  #hear(text: string): void {
    const notice = noticeOf(text)
    if (notice === 'shards') this.#bells.ring('shards')
    else if (notice === 'calendars') this.#rereadCalendars()
    else if (notice !== null && notice.teller !== this.#office.teller) {
      this.#lookout.lower(null, notice.wakeAt)
      this.#bells.ring('timers')
    }
  }

  /**
   * What was told while nobody listened was not heard. Not all is forgotten: on a strained server, where connections are
   * given up for being slow, each would be followed by a look at everything.
   */
  #catchUp(): void {
    this.#lookout.lower(null, this.clock.now() - RECENT_MS)
    this.#bells.ring('timers')
    this.#bells.ring('shards')
    this.#rereadCalendars()
  }

  /** Those who decide compare versions: to be late here only makes a preview old. */
  #rereadCalendars(): void {
    void this.readCalendars().catch(() => {})
  }
}
