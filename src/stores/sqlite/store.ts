import type { DatabaseSync } from 'node:sqlite'
import { assertPoolsFit, type Change, type Context, type Scope, type Snapshot } from '../../alarm/index.ts'
import type { Clock, HolidayCalendar } from '../../time/index.ts'
import {
  type ChangeKind,
  type Claimed,
  type ClaimRequest,
  type Decide,
  type Document,
  type InboxWake,
  type InFlightBatch,
  type Lease,
  type LogEvent,
  type NewCalendar,
  type NewDocument,
  type NewWake,
  type PortableLine,
  type PortableRow,
  type ReviewFilter,
  type ReviewResult,
  type Selector,
  type SetRequest,
  type SetResult,
  type Settlement,
  type SettleResult,
  type Store,
  Tallies,
  type UserEvent,
  type WaitingFilter,
  type WakeRequest,
} from '../index.ts'
import {
  fairWakeAt,
  heldTargets,
  isOwn,
  isSurelyDue,
  nextWakeAt,
  releaseWaiting,
  settleAll,
  take,
} from './claims/index.ts'
import {
  connect,
  ForeignWatch,
  isBusy,
  realSystem,
  Session,
  type System,
  storeFailure,
  turn,
  UserTransactions,
  WriteQueue,
  wait,
} from './connection/index.ts'
import { Ownership, type ShardRow } from './ownership/index.ts'
import {
  appendEvent,
  DOCUMENT_QUERIES,
  freeWakes,
  putDocument,
  putWake,
  removeWake,
  takeWakes,
  writeTallies,
} from './reads/index.ts'
import { SqliteReads } from './reads.ts'
import { CALENDAR_QUERIES, putCalendar, type WriteContext } from './rows/index.ts'
import * as sql from './sql/index.ts'
import { exportLines, importRow } from './transfer/index.ts'
import { editSelected, prune, removeCalendar, reviewSelected, setAll } from './writes/index.ts'

/** How a SQLite store is opened. */
export interface SqliteOptions {
  /** A file's path, or `:memory:`. */
  readonly path: string
  readonly clock: Clock
  readonly leaseMs?: number
  readonly heartbeatMs?: number
  /** How long a write waits for another connection's lock before it is refused. */
  readonly busyMs?: number
}

const LEASE_MS = 5_000
/** A beat is a touch of a file, so that it can come more often than the contract's 2 s and hasten takeover. */
const HEARTBEAT_MS = 1_000
const BUSY_MS = 10_000
/** How much longer leases last in memory, where nobody else can take over: virtual days pass with fewer beats. */
const ALONE = 1_000

/** The store on one SQLite file: one shard per pool, one writer at a time. */
export class SqliteStore extends SqliteReads implements Store {
  readonly leaseMs: number
  readonly heartbeatMs: number
  readonly #queue: WriteQueue
  readonly #ownership: Ownership
  readonly #watch: ForeignWatch
  readonly #clock: Clock
  readonly #system: System
  readonly #busyMs: number
  readonly #shards = new Map<string, number>()
  readonly #newPools = new Set<string>()
  readonly #users: UserTransactions
  #txSession: Session | null = null

  constructor(db: DatabaseSync, options: SqliteOptions, system: System = realSystem) {
    super(new Session(db), options.path, () => turn(options.clock, system))
    // In memory there is nobody to take over.
    const alone = options.path === ':memory:' ? ALONE : 1
    this.leaseMs = options.leaseMs ?? LEASE_MS * alone
    this.heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS * alone
    this.#busyMs = options.busyMs ?? BUSY_MS
    this.#clock = options.clock
    this.#system = system
    this.#users = new UserTransactions(this.session)
    this.#queue = new WriteQueue(this.session, this.path, this.#busyMs, system)
    this.#watch = new ForeignWatch(this.session, system)
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

  set(requests: readonly SetRequest[], context: Context, tx?: unknown): Promise<SetResult[]> {
    return this.#write((desk) => setAll(desk, requests), context, tx)
  }

  edit<A>(scope: Scope, which: Selector, decide: Decide<A>, context: Context, tx?: unknown) {
    return this.#write((desk) => editSelected(desk, scope, which, decide), context, tx)
  }

  heartbeat(owner: string, pools: readonly string[], context: Context): Promise<Lease[]> {
    return this.#guard(() => this.#ownership.own(owner, pools, context))
  }

  releaseLeases(leases: readonly Lease[]): Promise<void> {
    return this.#guard(() => this.#ownership.disown(leases))
  }

  async claim(leases: readonly Lease[], request: ClaimRequest): Promise<Claimed> {
    const { inFlight: held, context } = request
    if (!this.read((session) => isSurelyDue(session, leases, request))) {
      // An empty look writes nothing and needs no lock.
      const next = this.read((session) =>
        request.avoid === undefined
          ? nextWakeAt(session, leases, held)
          : fairWakeAt(session, leases, request),
      )
      if (next === null || next > context.now) return { timers: [], nextWakeAt: next, lost: [], more: false }
    }
    return this.#write((desk) => take(desk, leases, request), context)
  }

  settle(
    settlements: readonly Settlement[],
    landed: readonly InFlightBatch[],
    context: Context,
  ): Promise<SettleResult> {
    return this.#write((desk) => settleAll(desk, settlements, landed), context)
  }

  async transact(
    lease: Lease,
    work: (tx: unknown) => Promise<Settlement>,
    context: () => Context,
  ): Promise<SettleResult> {
    return this.#queue.exclusive(async () => {
      const session = this.#transactionSession()
      await this.#begin(session)
      try {
        if (!isOwn(session, lease)) return { lost: [lease], stale: 0 }
        const settlement = await work(session.db)
        const tallies = new Tallies()
        const desk = { session, tallies, context: context(), shardOf: this.#shardOf }
        const settled = settleAll(desk, [settlement], [])
        if (settled.lost.length > 0 || settled.stale > 0) return settled
        writeTallies(session, tallies)
        session.db.exec('COMMIT')
        return settled
      } catch (thrown) {
        throw storeFailure(thrown, this.path)
      } finally {
        if (!session.db.isOpen) this.#txSession = null
        else if (session.db.isTransaction) {
          session.db.exec('ROLLBACK')
          // A handler that was given up may still hold the handle: it must not write into the next one's transaction.
          if (session === this.#txSession) {
            this.#txSession = null
            session.db.close()
          }
        }
      }
    })
  }

  requeueWaiting(
    leases: readonly Lease[],
    which: WaitingFilter,
    now: number,
    limit: number,
  ): Promise<number> {
    return this.#queue.run((session) => releaseWaiting(session, leases, which, now, limit))
  }

  pausedTargets(leases: readonly Lease[], limit: number): Promise<string[]> {
    return this.#guard(async () => heldTargets(this.session, leases, limit))
  }

  review(
    which: ReviewFilter,
    decide: (snapshot: Snapshot) => Change | null,
    context: Context,
  ): Promise<ReviewResult> {
    return this.#write((desk) => reviewSelected(desk, which, decide), context)
  }

  putCalendar(tenant: string, calendar: NewCalendar, context: Context): Promise<HolidayCalendar> {
    return this.#write((desk) => putCalendar(desk, tenant, calendar), context)
  }

  removeCalendar(tenant: string, name: string): Promise<boolean> {
    return this.#queue.run((session) => removeCalendar(session, tenant, name))
  }

  async calendarReviewed(tenant: string, { name, version }: Pick<HolidayCalendar, 'name' | 'version'>) {
    await this.#queue.run((session) => session.run(CALENDAR_QUERIES.markReviewed, version, tenant, name))
  }

  async putMeta(name: string, value: string): Promise<void> {
    await this.#queue.run((session) => session.run(CALENDAR_QUERIES.putFact, name, value))
  }

  append(scope: Scope, event: UserEvent): Promise<LogEvent> {
    return this.#queue.run((session) => appendEvent(session, scope, event))
  }

  prune(endedBefore: number, limit: number): Promise<number> {
    return this.#queue.run((session) => prune(session, endedBefore, limit))
  }

  putDocument(document: NewDocument, now: number, version?: number): Promise<Document | null> {
    return this.#queue.run((session) => putDocument(session, document, now, version))
  }

  async removeDocument(kind: string, name: string): Promise<boolean> {
    return this.#queue.run((session) => session.run(DOCUMENT_QUERIES.remove, kind, name).changes > 0)
  }

  putWake(wake: NewWake, max: number): Promise<void> {
    return this.#queue.run((session) => putWake(session, wake, max))
  }

  async takeWakes(scope: Scope, request: WakeRequest): Promise<InboxWake[]> {
    // An empty look writes nothing: it is asked again and again.
    if (this.read((session) => freeWakes(session, scope, request)).length === 0) return []
    return this.#queue.run((session) => takeWakes(session, scope, request))
  }

  removeWake(
    scope: Scope,
    occurrenceId: string,
    triesMin?: number,
    triesMax?: number,
  ): Promise<InboxWake | null> {
    return this.#queue.run((session) => removeWake(session, scope, occurrenceId, triesMin, triesMax))
  }

  /** Writes a batch of an export's lines; what is here already is passed over. */
  import(lines: readonly PortableRow[], context: Context): Promise<number> {
    return this.#write((desk) => lines.filter((line) => importRow(desk, line)).length, context)
  }

  /** Everything as it stands at this moment, line by line, on a connection of its own. */
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

  onChange(listener: (news: ChangeKind) => void): () => void {
    this.assertOpen()
    return this.path === ':memory:' ? () => {} : this.#watch.add(() => listener('timers'))
  }

  async close(): Promise<void> {
    if (this.isClosed) return
    this.isClosed = true
    this.#watch.close()
    await this.#queue.close()
    this.#ownership.release()
    if (this.#txSession?.db.isOpen) this.#txSession.db.close()
    this.session.db.close()
  }

  /** A connection of its own, so that others read only what is committed; in memory there can be only one. */
  #transactionSession(): Session {
    if (this.path === ':memory:') return this.session
    this.#txSession ??= new Session(connect(this.path, {}, this.#system))
    return this.#txSession
  }

  #write<T>(work: (desk: WriteContext) => T, context: Context, tx?: unknown): Promise<T> {
    const job = (session: Session) => {
      const tallies = new Tallies()
      const answer = work({ session, tallies, context, shardOf: this.#shardOf })
      writeTallies(session, tallies)
      return answer
    }
    return tx === undefined
      ? this.#queue.run(job)
      : this.#guard(async () => this.#users.session(tx).undoable(job))
  }

  async #guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (thrown) {
      throw storeFailure(thrown, this.path)
    }
  }

  // Pools are few and never go away, so that a row read once stays true; a new one may yet be rolled back.
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

  async #begin(session: Session): Promise<void> {
    const start = this.#clock.monotonic()
    for (;;) {
      try {
        session.db.exec('BEGIN IMMEDIATE')
        return
      } catch (thrown) {
        if (!isBusy(thrown) || this.#clock.monotonic() - start > this.#busyMs)
          throw storeFailure(thrown, this.path)
      }
      await wait(this.#system, 2)
    }
  }
}
