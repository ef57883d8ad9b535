import type { Change, Context, Scope, Snapshot } from '../../../src/alarm/index.ts'
import { WakefulError } from '../../../src/error.ts'
import type {
  Decide,
  EditResult,
  InFlightBatch,
  Lease,
  NewCalendar,
  RecomputeFilter,
  RecomputeResult,
  Selector,
  SetRequest,
  SetResult,
  Settlement,
  SettleResult,
  Store,
  WaitingFilter,
} from '../../../src/stores/index.ts'
import { CALENDARS_NOTICE, SHARDS_NOTICE, ShardedProtocol } from '../../../src/stores/sharded/index.ts'
import type { Clock, HolidayCalendar } from '../../../src/time/index.ts'
import { putCalendar, removeCalendar } from './calendars.ts'
import { SimulatedClaimStatements } from './claims.ts'
import { Connection } from './connection.ts'
import type { SimulatedDatabase } from './database.ts'
import { editSelected, recomputeSelected, select } from './edits.ts'
import { SimulatedLeaseStatements } from './leases.ts'
import { SimulatedListening, SteppingClock, timersOf, watchLog } from './listening.ts'
import { SimulatedRecords } from './records.ts'
import { pausedTargets, releaseWaiting } from './releases.ts'
import { setAll } from './sets.ts'
import { settleAll } from './settle.ts'
import { OpenTransaction } from './transaction.ts'
import { openWire, type Wire } from './wire.ts'
import type { WriteBatch } from './write-batch.ts'
import { Writes } from './writes.ts'

/** Options of a process's simulated store. */
export interface SimulatedStoreOptions {
  readonly database: SimulatedDatabase
  /** The unique name of the process, never reused. */
  readonly process: string
  /** The process's clock. */
  readonly clock: Clock
  /** Whether that clock is authoritative, instead of the database's. */
  readonly clockIsAuthority?: boolean
  readonly wire?: Wire
  readonly leaseMs?: number
  readonly heartbeatMs?: number
}

/** How long a handler's settle may wait for its commit before others end it: its process may be dead. */
const SETTLING_MS_MAX = 4_000

/**
 * One process's view of a simulated database, modelled on the PostgreSQL store: many processes, each holding some
 * shards.
 */
export class SimulatedStore extends SimulatedRecords implements Store {
  protected readonly protocol: ShardedProtocol

  constructor(options: SimulatedStoreOptions) {
    super(new Connection(options.database, options.process, options.wire ?? openWire, options.clock))
    const { connection, database } = this
    const timers = timersOf(options.clock)
    this.protocol = new ShardedProtocol(
      { ...options, timers },
      {
        leases: new SimulatedLeaseStatements(connection, (...commit) => this.#commitLeases(...commit)),
        claims: new SimulatedClaimStatements(connection, (context, work, lockMsMax) =>
          this.#write('claim', context, work, undefined, lockMsMax),
        ),
        listening: new SimulatedListening(connection),
        readClock: () => connection.send('clock', () => database.now()),
        watchLog: (onGrown) => watchLog(connection, timers, onGrown),
        sender: connection.process,
        onCalendarsChanged: () => this.rereadCalendars(),
        makeClock: (...made) => new SteppingClock(...made),
      },
    )
  }

  async set(requests: readonly SetRequest[], context: Context, tx?: unknown): Promise<SetResult[]> {
    return this.#write('set', context, (batch) => setAll(batch, requests), openOf(tx))
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
    return this.#write('edit.commit', context, (batch) => editSelected(batch, selection, which, decide), open)
  }

  async settle(
    settlements: readonly Settlement[],
    acknowledged: readonly InFlightBatch[],
    context: Context,
  ): Promise<SettleResult> {
    const settled = await this.#write('settle', context, (batch) =>
      settleAll(batch, settlements, acknowledged),
    )
    this.protocol.claims.acknowledged(acknowledged)
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
        (batch) => settleIn(batch, tx, settlement),
        tx,
      )
      if (settled.lost.length === 0 && settled.stale === 0) await this.#commit('transact.commit', tx)
      return settled
    } finally {
      // As a server does when the connection is gone.
      database.rollback(tx)
    }
  }

  /** Opens a user's transaction. Pass it to calls as `{ tx }`, and end it with `commit` or `rollback`. */
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
    if (released > 0) this.protocol.nextWakes.clear()
    return released
  }

  pausedTargets(leases: readonly Lease[], limit: number): Promise<string[]> {
    return this.connection.send('held_targets', () => pausedTargets(this.database, leases, limit))
  }

  recomputeInstants(
    which: RecomputeFilter,
    decide: (snapshot: Snapshot) => Change | null,
    context: Context,
  ): Promise<RecomputeResult> {
    return this.#write('review', context, (batch) => recomputeSelected(batch, which, decide))
  }

  putCalendar(tenant: string, calendar: NewCalendar): Promise<HolidayCalendar> {
    return this.#editCalendars('put_calendar', () => putCalendar(this.database, tenant, calendar))
  }

  removeCalendar(tenant: string, name: string): Promise<boolean> {
    return this.#editCalendars('remove_calendar', () => removeCalendar(this.database, tenant, name))
  }

  async close(): Promise<void> {
    if (this.connection.isClosed) return
    await this.protocol.close()
    this.connection.close()
    this.database.cutOff(this.connection.process)
  }

  /** Runs work in its own statement or in an open transaction, and notifies other processes of its writes. */
  async #write<T>(
    name: string,
    context: Context,
    work: (batch: WriteBatch) => T,
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
      this.#notify(writes.wakes, false)
      return answer
    }
    try {
      return await connection.send(name, run, tx, lockMsMax)
    } finally {
      // Also if the answer is lost: the statement may have run.
      if (tx === undefined) this.protocol.noteWakes(writes.wakes)
    }
  }

  async #commit(name: string, tx: OpenTransaction): Promise<void> {
    try {
      await this.connection.send(name, () => {
        this.database.commit(tx)
        this.#notify(tx.wakes, true)
      })
    } finally {
      this.protocol.noteWakes(tx.wakes)
    }
  }

  async #commitLeases(tx: OpenTransaction, freesShards: boolean): Promise<void> {
    const { database, connection } = this
    try {
      await connection.send(
        'leases.commit',
        () => {
          database.commit(tx)
          if (freesShards) database.notify(SHARDS_NOTICE)
          if (tx.wakes.size > 0) this.#notify(tx.wakes, false)
        },
        tx,
      )
    } finally {
      this.protocol.noteWakes(tx.wakes)
    }
  }

  /** Edits the calendars, notifies the other processes, and reloads them before it returns. */
  async #editCalendars<T>(name: string, work: () => T): Promise<T> {
    const answer = await this.connection.send(name, () => {
      const done = this.database.atomic(work)
      this.database.notify(CALENDARS_NOTICE)
      return done
    })
    await this.readCalendars()
    return answer
  }

  /** Notifies other processes of timers due before their next heartbeat, and of new log records. */
  #notify(wakes: ReadonlyMap<number, number>, isUserTransaction: boolean): void {
    const notice = this.protocol.noticeFor(wakes, isUserTransaction)
    if (notice !== null) this.database.notify(notice)
    this.database.logGrown()
  }
}

/** Settles in the handler's transaction. The shard cannot be taken over until the commit. */
function settleIn(batch: WriteBatch, tx: OpenTransaction, settlement: Settlement): SettleResult {
  batch.database.endIn(tx, SETTLING_MS_MAX)
  return settleAll(batch, [settlement], [])
}

/** The open transaction of a call, or an error if it is not one. */
function openOf(tx: unknown): OpenTransaction | undefined {
  if (tx === undefined || (tx instanceof OpenTransaction && tx.isOpen)) return tx
  throw new WakefulError('tx.not_begun', {}, { field: 'tx' })
}
