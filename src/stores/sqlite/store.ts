import type { DatabaseSync } from 'node:sqlite'
import { assertPoolsFit, type Change, type Context, type Scope, type Snapshot } from '../../alarm/index.ts'
import type { Clock, HolidayCalendar } from '../../time/index.ts'
import {
  type ChangeKind,
  type Claimed,
  type ClaimRequest,
  type Decide,
  type InFlightBatch,
  type Lease,
  type NewCalendar,
  type NewDocument,
  type NewWake,
  type PortableLine,
  type PortableRow,
  type RecomputeFilter,
  type Selector,
  type SetRequest,
  type Settlement,
  type SettleResult,
  type Store,
  type UserEvent,
  type WaitingFilter,
  type WakeRequest,
  wakeOf,
} from '../index.ts'
import {
  claim,
  holdsShard,
  isCertainlyDue,
  missingHandlers,
  nextClaimableWakeAt,
  pausedTargets,
  requeueWaiting,
  settleAll,
} from './claims/index.ts'
import {
  beginImmediate,
  connect,
  realSystem,
  Session,
  type System,
  storeFailure,
  UserTransactions,
  WriteQueue,
  watchCommits,
  yieldTurn,
} from './connection/index.ts'
import { Ownership, type ShardRow } from './ownership/index.ts'
import {
  appendEvent,
  availableWakes,
  claimWakes,
  DOCUMENT_QUERIES,
  INBOX_QUERIES,
  putDocument,
  putWake,
} from './reads/index.ts'
import { SqliteReads } from './reads.ts'
import { CALENDAR_QUERIES, putCalendar, putMeta, RowWrites } from './rows/index.ts'
import { migrate } from './schema/index.ts'
import * as sql from './sql/index.ts'
import { exportLines, importRow } from './transfer/index.ts'
import { editSelected, prune, recomputeSelected, removeCalendar, setAll } from './writes/index.ts'

/** Options of a SQLite store. */
export interface SqliteOptions {
  /** A file's path, or `:memory:`. */
  readonly path: string
  readonly clock: Clock
  readonly leaseMs?: number
  readonly heartbeatMs?: number
  /** How long a write waits for another connection's lock before it fails. */
  readonly busyMs?: number
}

const LEASE_MS = 5_000
/** A heartbeat only touches a file, so it can be more frequent than the contract's 2 s; that speeds up takeover. */
const HEARTBEAT_MS = 1_000
const BUSY_MS = 10_000
/** How much longer leases last in memory, where no other process can take over: fewer heartbeats in virtual days. */
const IN_MEMORY_FACTOR = 1_000

/** The store on one SQLite file: one shard per pool, one writer at a time. */
export class SqliteStore extends SqliteReads implements Store {
  readonly leaseMs: number
  readonly heartbeatMs: number
  readonly #queue: WriteQueue
  readonly #ownership: Ownership
  readonly #watches = new Set<() => void>()
  readonly #clock: Clock
  readonly #system: System
  readonly #busyMs: number
  readonly #shards = new Map<string, number>()
  readonly #newPools = new Set<string>()
  readonly #userTransactions: UserTransactions
  #txSession: Session | null = null

  constructor(db: DatabaseSync, options: SqliteOptions, system: System = realSystem) {
    super(new Session(db), options.path, () => yieldTurn(options.clock, system))
    const factor = options.path === ':memory:' ? IN_MEMORY_FACTOR : 1
    this.leaseMs = options.leaseMs ?? LEASE_MS * factor
    this.heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS * factor
    this.#busyMs = options.busyMs ?? BUSY_MS
    this.#clock = options.clock
    this.#system = system
    this.#userTransactions = new UserTransactions(this.session)
    this.#queue = new WriteQueue(this.session, this.path, this.#busyMs, system)
    this.#ownership = new Ownership({
      session: this.session,
      clock: options.clock,
      system,
      leaseMs: this.leaseMs,
      path: this.path === ':memory:' ? null : this.path,
      write: (work, context) => this.#write(work, context),
      run: (work) => this.#queue.run(work),
    })
  }

  set(requests: readonly SetRequest[], context: Context, tx?: unknown) {
    return this.#write((write) => setAll(write, requests), context, tx)
  }

  edit<A>(scope: Scope, which: Selector, decide: Decide<A>, context: Context, tx?: unknown) {
    return this.#write((write) => editSelected(write, scope, which, decide), context, tx)
  }

  heartbeat(holder: string, pools: readonly string[], context: Context): Promise<Lease[]> {
    return this.#guard(() => this.#ownership.heartbeat(holder, pools, context))
  }

  releaseLeases(leases: readonly Lease[]): Promise<void> {
    return this.#guard(() => this.#ownership.releaseLeases(leases))
  }

  leave(process: string): Promise<void> {
    return this.#guard(() => this.#ownership.leave(process))
  }

  async claim(leases: readonly Lease[], request: ClaimRequest): Promise<Claimed> {
    const { context } = request
    if (!this.read((session) => isCertainlyDue(session, leases, request))) {
      // A claim that finds nothing writes nothing and needs no lock.
      const next = this.read((session) => nextClaimableWakeAt(session, leases, request))
      if (next === null || next > context.now) return { timers: [], nextWakeAt: next, lost: [], more: false }
    }
    return this.#write((write) => claim(write, leases, request), context)
  }

  settle(settlements: readonly Settlement[], acknowledged: readonly InFlightBatch[], context: Context) {
    return this.#write((write) => settleAll(write, settlements, acknowledged), context)
  }

  async transact(lease: Lease, work: (tx: unknown) => Promise<Settlement>, context: () => Context) {
    return this.#queue.exclusive(async (): Promise<SettleResult> => {
      const session = this.#transactionSession()
      await beginImmediate(session.db, this.path, this.#busyMs, this.#system)
      try {
        if (!holdsShard(session, lease)) return { lost: [lease], stale: 0 }
        const settlement = await work(session.db)
        const write = new RowWrites(session, context(), this.#shardOf)
        const settled = settleAll(write, [settlement], [])
        if (settled.lost.length > 0 || settled.stale > 0) return settled
        write.finish()
        session.db.exec('COMMIT')
        return settled
      } catch (thrown) {
        throw storeFailure(thrown, this.path)
      } finally {
        this.#rollBackUncommitted(session)
      }
    })
  }

  requeueWaiting(leases: readonly Lease[], which: WaitingFilter, now: number, limit: number) {
    return this.#queue.run((session) => requeueWaiting(session, leases, which, now, limit))
  }

  pausedTargets(leases: readonly Lease[], limit: number): Promise<string[]> {
    return this.#guard(async () => pausedTargets(this.session, leases, limit))
  }

  missingHandlers(dueBy: number, limit: number) {
    return this.#guard(async () => missingHandlers(this.session, dueBy, limit))
  }

  recomputeInstants(which: RecomputeFilter, decide: (snapshot: Snapshot) => Change | null, context: Context) {
    return this.#write((write) => recomputeSelected(write, which, decide), context)
  }

  putCalendar(tenant: string, calendar: NewCalendar, context: Context) {
    return this.#write((write) => putCalendar(write, tenant, calendar), context)
  }

  removeCalendar(tenant: string, name: string): Promise<boolean> {
    return this.#queue.run((session) => removeCalendar(session, tenant, name))
  }

  async markCalendarRecomputed(tenant: string, { name, version }: Pick<HolidayCalendar, 'name' | 'version'>) {
    await this.#queue.run((session) => session.run(CALENDAR_QUERIES.markRecomputed, version, tenant, name))
  }

  putMeta(name: string, value: string) {
    return this.#queue.run((session) => putMeta(session, name, value))
  }

  append(scope: Scope, event: UserEvent) {
    return this.#queue.run((session) => appendEvent(session, scope, event))
  }

  prune(before: number, limit: number) {
    return this.#queue.run((session) => prune(session, before, limit))
  }

  putDocument(document: NewDocument, now: number, version?: number) {
    return this.#queue.run((session) => putDocument(session, document, now, version))
  }

  async removeDocument(kind: string, name: string): Promise<boolean> {
    return this.#queue.run((session) => session.run(DOCUMENT_QUERIES.remove, kind, name).changes > 0)
  }

  putWake(wake: NewWake, max: number): Promise<void> {
    return this.#queue.run((session) => putWake(session, wake, max))
  }

  async claimWakes(scope: Scope, request: WakeRequest) {
    // Reads first, because agents poll: nothing is written where there is no wake.
    if (this.read((session) => availableWakes(session, scope, request)).length === 0) return []
    return this.#queue.run((session) => claimWakes(session, scope, request))
  }

  removeWake(
    { tenant, owner }: Scope,
    occurrenceId: string,
    triesMin = 0,
    triesMax = Number.MAX_SAFE_INTEGER,
  ) {
    return this.#queue.run((session) => {
      const row = session.value(INBOX_QUERIES.remove, tenant, owner, occurrenceId, triesMin, triesMax)
      return row === undefined ? null : wakeOf(row)
    })
  }

  /** Imports lines of an export; skips what exists. Returns how many were written. */
  import(lines: readonly PortableRow[], context: Context): Promise<number> {
    return this.#write((write) => lines.filter((line) => importRow(write, line)).length, context)
  }

  /** Exports everything as of one moment, on its own connection. */
  async *export(): AsyncGenerator<PortableLine> {
    if (this.path === ':memory:') {
      yield* exportLines(this.session, this.#clock.now())
      return
    }
    const session = new Session(connect(this.path, {}, this.#system))
    try {
      session.db.exec('BEGIN')
      yield* exportLines(session, this.#clock.now())
    } finally {
      session.db.close()
    }
  }

  onChange(listener: (change: ChangeKind) => void): () => void {
    this.assertOpen()
    if (this.path === ':memory:') return () => {}
    const stop = watchCommits(this.session, this.#system, () => listener('timers'))
    this.#watches.add(stop)
    return () => {
      this.#watches.delete(stop)
      stop()
    }
  }

  async close(): Promise<void> {
    if (this.isClosed) return
    this.isClosed = true
    for (const stop of this.#watches) stop()
    await this.#queue.close()
    this.#ownership.release()
    if (this.#txSession?.db.isOpen) this.#txSession.db.close()
    this.session.db.close()
  }

  /** A separate connection, so that other reads see only committed rows; in memory there can be only one. */
  #transactionSession(): Session {
    if (this.path === ':memory:') return this.session
    this.#txSession ??= new Session(connect(this.path, {}, this.#system))
    return this.#txSession
  }

  #rollBackUncommitted(session: Session): void {
    if (!session.db.isOpen) {
      this.#txSession = null
      return
    }
    if (!session.db.isTransaction) return
    session.db.exec('ROLLBACK')
    // An abandoned handler may still have this connection: it must not write into the next handler's transaction.
    if (session === this.#txSession) {
      this.#txSession = null
      session.db.close()
    }
  }

  #write<T>(work: (write: RowWrites) => T, context: Context, tx?: unknown): Promise<T> {
    const job = (session: Session) => {
      const write = new RowWrites(session, context, this.#shardOf)
      const answer = work(write)
      write.finish()
      return answer
    }
    return tx === undefined
      ? this.#queue.run(job)
      : this.#guard(async () => this.#userTransactions.session(tx).undoable(job))
  }

  async #guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (thrown) {
      throw storeFailure(thrown, this.path)
    }
  }

  // Pools are few and never removed, so a shard that was read once stays valid. A new one may still be rolled back.
  #shardOf = (session: Session, pool: string): number => {
    const known = this.#shards.get(pool)
    if (known !== undefined) return known
    const found = session.get<ShardRow>(sql.shardOfPool, pool)
    if (found === undefined) {
      assertPoolsFit([pool], session.get<{ pools: number }>(sql.poolCount)!.pools)
      this.#newPools.add(pool)
      this.#system.soon(() => this.#newPools.delete(pool))
      return session.run(sql.insertShard, pool).lastInsertRowid
    }
    if (session === this.session && !this.#newPools.has(pool)) this.#shards.set(pool, found.shard)
    return found.shard
  }
}

/** Opens a store on a SQLite file; creates or migrates its tables. */
export function openSqlite(options: SqliteOptions): Promise<SqliteStore> {
  return openSqliteOn(realSystem, options)
}

/** The same on another `System`, for the simulation. */
export async function openSqliteOn(system: System, options: SqliteOptions): Promise<SqliteStore> {
  const db = connect(options.path, {}, system)
  try {
    await migrate(db, options.path, options.clock.now(), undefined, system)
    return new SqliteStore(db, options, system)
  } catch (thrown) {
    db.close()
    throw storeFailure(thrown, options.path)
  }
}
