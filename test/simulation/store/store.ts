import type { Change, Context, Scope, Snapshot } from '../../../src/alarm/index.ts'
import { WakefulError } from '../../../src/error.ts'
import type {
  ChangeKind,
  Claimed,
  ClaimRequest,
  Decide,
  EditResult,
  InFlightBatch,
  InFlightTimers,
  Lease,
  NewCalendar,
  ReviewFilter,
  ReviewResult,
  Selector,
  SetRequest,
  SetResult,
  Settlement,
  SettleResult,
  Store,
  WaitingFilter,
} from '../../../src/stores/index.ts'
import {
  Claims,
  type HeartbeatResult,
  NextWakeCache,
  RECENT_MS,
  ShardLeases,
} from '../../../src/stores/sharded/index.ts'
import type { Clock, HolidayCalendar } from '../../../src/time/index.ts'
import { putCalendar, removeCalendar } from './calendars.ts'
import { SimulatedClaimStatements } from './claims.ts'
import { Connection } from './connection.ts'
import type { SimulatedDatabase } from './database.ts'
import type { Desk } from './desk.ts'
import { editSelected, reviewSelected, select } from './edits.ts'
import { Hearing } from './hearing.ts'
import { SimulatedLeaseStatements } from './leases.ts'
import { SimulatedRecords } from './records.ts'
import { heldTargets, releaseWaiting } from './releases.ts'
import { setAll } from './sets.ts'
import { settleAll } from './settle.ts'
import { ToldClock } from './told-clock.ts'
import { OpenTransaction } from './transaction.ts'
import { openWire, type Wire } from './wire.ts'
import { Writes } from './writes.ts'

/** How a process's simulated store is opened. */
export interface SimulatedStoreOptions {
  readonly database: SimulatedDatabase
  /** The process, by a name that no other has or had. */
  readonly process: string
  /** The process's own clock. */
  readonly clock: Clock
  /** Whether that clock is the authority, instead of the database's as it is known here. */
  readonly clockIsAuthority?: boolean
  readonly wire?: Wire
  readonly leaseMs?: number
  readonly heartbeatMs?: number
}

const LEASE_MS = 5_000
const HEARTBEAT_MS = 2_000
/** What wakes within a beat and this much more is told at once: the beat that would find it may come a little late. */
const TELL_MARGIN_MS = 1_000
/** A lease ends this much before its time is over, so that whoever takes over has done so by then. */
const TAKEOVER_MS = 200
const CLOCK_SAMPLES = 3
/** How long a handler's settle may wait for its commit before others take its rows: nobody may be there any more. */
const SETTLING_MS_MAX = 4_000

/** One process's view of a simulated database, shaped as the PostgreSQL store: many processes, each the owner of some shards. */
export class SimulatedStore extends SimulatedRecords implements Store {
  readonly leaseMs: number
  readonly heartbeatMs: number
  /** The time by which alarms fire. */
  readonly clock: Clock
  readonly #host: Clock
  readonly #toldClock: ToldClock | null
  readonly #leases: ShardLeases
  readonly #claims: Claims
  readonly #nextWakes = new NextWakeCache()
  readonly #hearing: Hearing
  #sampling: Promise<void> | null = null

  constructor(options: SimulatedStoreOptions) {
    super(new Connection(options.database, options.process, options.wire ?? openWire, options.clock))
    this.leaseMs = options.leaseMs ?? LEASE_MS
    this.heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS
    this.#host = options.clock
    const resample = () => void this.sampleClock().catch(() => {})
    const isAuthority = options.clockIsAuthority === true
    this.#toldClock = isAuthority ? null : new ToldClock(this.#host, resample, this.heartbeatMs)
    this.clock = this.#toldClock ?? this.#host
    this.#claims = new Claims({
      statements: new SimulatedClaimStatements(this.connection, (context, work, lockMsMax) =>
        this.#write('claim', context, work, undefined, lockMsMax),
      ),
      clock: this.#host,
      nextWakes: this.#nextWakes,
    })
    this.#hearing = new Hearing({
      connection: this.connection,
      clock: this.#host,
      onWake: (wakeAt) => this.#nextWakes.lower(null, wakeAt),
      onCalendars: () => void this.readCalendars().catch(() => {}),
      onMissed: () => this.#nextWakes.lower(null, this.clock.now() - RECENT_MS),
    })
    const statements = new SimulatedLeaseStatements(this.connection, (tx, freesShards) =>
      this.#commitLeases(tx, freesShards),
    )
    this.#leases = new ShardLeases({
      clock: this.#host,
      leaseMs: Math.max(this.leaseMs / 2, this.leaseMs - TAKEOVER_MS),
      statements,
      sendHeartbeat: (request) => statements.heartbeat(request),
      nextWakes: this.#nextWakes,
      onHeartbeat: (...heartbeat) => this.#noteHeartbeat(...heartbeat),
      heartbeatIn: (inMs) => this.#hearing.ringIn(inMs, 'shards'),
    })
  }

  /** Measures the clock and reads the calendars, before anything else is done. */
  async open(): Promise<this> {
    for (let i = 0; i < CLOCK_SAMPLES; i++) await this.sampleClock()
    await this.readCalendars()
    return this
  }

  async set(requests: readonly SetRequest[], context: Context, tx?: unknown): Promise<SetResult[]> {
    return this.#write('set', context, (desk) => setAll(desk, requests), openOf(tx))
  }

  async edit<A>(
    scope: Scope,
    which: Selector,
    decide: Decide<A>,
    context: Context,
    tx?: unknown,
  ): Promise<EditResult<A>> {
    const open = openOf(tx)
    const look = () => select(this.database, scope, which)
    const selection = await this.connection.send('edit.select', () =>
      open === undefined ? look() : this.database.within(open, look),
    )
    return this.#write('edit.commit', context, (desk) => editSelected(desk, selection, decide), open)
  }

  heartbeat(process: string, pools: readonly string[], context: Context): Promise<Lease[]> {
    return this.#leases.heartbeat(process, pools, context)
  }

  releaseLeases(leases: readonly Lease[]): Promise<void> {
    return this.#leases.release(leases)
  }

  async claim(leases: readonly Lease[], request: ClaimRequest): Promise<Claimed> {
    const claiming = leases.filter((lease) => !this.#leases.isRetiring(lease))
    const claimed = await this.#claims.claim(claiming, request, this.#hearing.isListening)
    // What is known of the clock loses half a millisecond a second: while alarms fire, it is worth a look of its own.
    if (claimed.timers.length > 0) this.#toldClock?.refresh()
    return claimed
  }

  async settle(
    settlements: readonly Settlement[],
    landed: readonly InFlightBatch[],
    context: Context,
  ): Promise<SettleResult> {
    const settled = await this.#write('settle', context, (desk) => settleAll(desk, settlements, landed))
    this.#claims.acknowledged(landed)
    return settled
  }

  async transact(
    lease: Lease,
    work: (tx: unknown) => Promise<Settlement>,
    context: () => Context,
  ): Promise<SettleResult> {
    const { database, connection } = this
    const tx = await connection.send('transact.begin', () =>
      database.isOwn(lease) ? database.begin(connection.process, { isHandler: true }) : null,
    )
    if (tx === null) return { lost: [lease], stale: 0 }
    try {
      const settlement = await work(tx)
      const settled = await this.#write(
        'transact.settle',
        context(),
        (desk) => settleHeld(desk, tx, settlement),
        tx,
      )
      if (settled.lost.length === 0 && settled.stale === 0) await this.#commit('transact.commit', tx)
      return settled
    } finally {
      // A server does so too, when the connection is gone.
      database.rollback(tx)
    }
  }

  /** Opens a transaction of a user's own. Calls are made in it with `{ tx }`, and it is ended by `commit` or `rollback`. */
  begin(): Promise<OpenTransaction> {
    const { database, connection } = this
    return connection.send('begin', () => database.begin(connection.process))
  }

  commit(tx: OpenTransaction): Promise<void> {
    return this.#commit('commit', tx)
  }

  rollback(tx: OpenTransaction): Promise<void> {
    return this.connection.send('rollback', () => this.database.rollback(tx))
  }

  async requeueWaiting(
    leases: readonly Lease[],
    which: WaitingFilter,
    now: number,
    limit: number,
  ): Promise<number> {
    const release = () => releaseWaiting(this.database, leases, which, now, limit)
    const released = await this.atomic('release_waiting', release)
    if (released > 0) this.#nextWakes.sweep()
    return released
  }

  pausedTargets(leases: readonly Lease[], limit: number): Promise<string[]> {
    return this.connection.send('held_targets', () => heldTargets(this.database, leases, limit))
  }

  review(
    which: ReviewFilter,
    decide: (snapshot: Snapshot) => Change | null,
    context: Context,
  ): Promise<ReviewResult> {
    return this.#write('review', context, (desk) => reviewSelected(desk, which, decide))
  }

  putCalendar(tenant: string, calendar: NewCalendar): Promise<HolidayCalendar> {
    return this.#editCalendars('put_calendar', () => putCalendar(this.database, tenant, calendar))
  }

  removeCalendar(tenant: string, name: string): Promise<boolean> {
    return this.#editCalendars('remove_calendar', () => removeCalendar(this.database, tenant, name))
  }

  onChange(listener: (news: ChangeKind) => void, about: 'clock' | 'log' = 'clock'): () => void {
    this.connection.assertOpen()
    return this.#hearing.add(listener, about)
  }

  nextWakeAt(leases: readonly Lease[], inFlight: InFlightTimers): Promise<number | null> {
    return this.#claims.nextWakeAt(leases, inFlight, this.clock.now())
  }

  async close(): Promise<void> {
    if (this.connection.isClosed) return
    this.#hearing.close()
    this.connection.close()
    this.database.cutOff(this.connection.process)
  }

  /** Measures the database's clock. */
  sampleClock(): Promise<void> {
    const clock = this.#toldClock
    if (clock === null) return Promise.resolve()
    this.#sampling ??= (async () => {
      try {
        const sentAt = this.#host.monotonic()
        const now = await this.connection.send('clock', () => this.database.now())
        clock.sample(now, sentAt, this.#host.monotonic())
      } finally {
        this.#sampling = null
      }
    })()
    return this.#sampling
  }

  /** Runs work in a statement of its own, or within an open transaction, tells others of what it wrote, and notes it. */
  async #write<T>(
    name: string,
    context: Context,
    work: (desk: Desk) => T,
    tx?: OpenTransaction,
    lockMsMax?: number,
  ): Promise<T> {
    const { database, connection } = this
    let writes = new Writes(database)
    const written = () => {
      const answer = work({ database, writes, context })
      writes.finish(tx)
      return answer
    }
    const run = () => {
      writes = new Writes(database)
      if (tx !== undefined) return database.within(tx, written)
      const answer = database.atomic(written)
      this.#tell(writes.wakes, connection.process)
      return answer
    }
    try {
      return await connection.send(name, run, tx, lockMsMax)
    } finally {
      // Also where the answer is lost: it may have been carried out.
      if (tx === undefined) this.#noteWakes(writes.wakes)
    }
  }

  #noteWakes(wakes: ReadonlyMap<number, number>): void {
    for (const [shard, wakeAt] of wakes) this.#nextWakes.lower(shard, wakeAt)
  }

  async #commit(name: string, tx: OpenTransaction): Promise<void> {
    try {
      await this.connection.send(name, () => {
        this.database.commit(tx)
        this.#tell(tx.wakes, null)
      })
    } finally {
      this.#noteWakes(tx.wakes)
    }
  }

  async #commitLeases(tx: OpenTransaction, freesShards: boolean): Promise<void> {
    const { database, connection } = this
    try {
      await connection.send(
        'leases.commit',
        () => {
          database.commit(tx)
          if (freesShards) database.tell('shards', null)
          if (tx.wakes.size > 0) this.#tell(tx.wakes, connection.process)
        },
        tx,
      )
    } finally {
      this.#noteWakes(tx.wakes)
    }
  }

  /** Edits the calendars, tells the others, and knows them itself before it answers. */
  async #editCalendars<T>(name: string, work: () => T): Promise<T> {
    const answer = await this.connection.send(name, () => {
      const done = this.database.atomic(work)
      this.database.tell('calendars', this.connection.process)
      return done
    })
    await this.readCalendars()
    return answer
  }

  /** Tells other processes of what falls due before their next beat finds it (hazard 9), and that the log has grown. */
  #tell(wakes: ReadonlyMap<number, number>, teller: string | null): void {
    const { database } = this
    const soon = database.now() + this.heartbeatMs + TELL_MARGIN_MS
    const told = [...wakes]
      .filter(([shard, wakeAt]) => wakeAt < soon && (teller === null || !this.#leases.holds(shard)))
      .map(([, wakeAt]) => wakeAt)
    if (told.length > 0) database.tell({ wakeAt: Math.min(...told) }, teller)
    database.tell('log', teller)
  }

  #noteHeartbeat(result: HeartbeatResult, sentAt: number, answeredAt: number): void {
    this.#toldClock?.sample(result.now, sentAt, answeredAt)
    this.#hearing.catchUp()
    if (this.#nextWakes.heardOf(result.nextWakes)) this.#hearing.ring('timers')
  }
}

/** Settles in the handler's own transaction. The shard is kept from being taken over until it is committed. */
function settleHeld(desk: Desk, tx: OpenTransaction, settlement: Settlement): SettleResult {
  desk.database.endIn(tx, SETTLING_MS_MAX)
  return settleAll(desk, [settlement], [])
}

/** The open transaction a call is to be made in, or why it cannot be. */
function openOf(tx: unknown): OpenTransaction | undefined {
  if (tx === undefined || (tx instanceof OpenTransaction && tx.isOpen)) return tx
  throw new WakefulError('invalid_request', 'tx must be an open transaction of the simulated database')
}
