import { assertPoolsFit, isSeen, type ReadScope, type Scope, type Serial } from '../../../src/alarm/index.ts'
import { WakefulError } from '../../../src/error.ts'
import type { Lease, TallyRow } from '../../../src/stores/index.ts'
import { storeFailure } from '../../../src/stores/postgres/connection/errors.ts'
import { Journal, type Step } from './journal.ts'
import { type ShardRow, scopedName, Tables } from './tables.ts'
import { Blocked, OpenTransaction, type TransactionOptions } from './transaction.ts'

/** The recipients of a notice. */
type Listener = (text: string) => void

/** Delivers a notice to a listening process; at once if no fault is injected. */
type DeliverNotice = (process: string, receive: () => void) => void

/** Options of a simulated database. */
export interface DatabaseOptions {
  /** The database's clock, by which leases end. */
  readonly now: () => number
  /** Elapsed time, unaffected by clock steps. Idle transactions time out by it (`now`). */
  readonly elapsed?: () => number
  /** Shards per pool. */
  readonly shards?: number
  readonly notify?: DeliverNotice
  /** Calls back after this much elapsed time. Without it, nothing times out by itself. */
  readonly later?: (ms: number, call: () => void) => void
}

/** The number of sums per owner: those of `Tallies`, in its order. */
const SUMS = 9

/**
 * An in-memory database shared by several simulated processes. Statements run one at a time, so a call whose reads and
 * writes are one statement is atomic. Only open transactions outlast a statement.
 */
export class SimulatedDatabase {
  readonly now: () => number
  readonly elapsed: () => number
  readonly tables: Tables
  readonly #shardsPerPool: number
  readonly #notify: DeliverNotice
  readonly #later: (ms: number, call: () => void) => void
  /** The causes of a full disk. Each is called for every write it rejects. */
  readonly #fillings = new Set<() => void>()
  readonly #journal = new Journal()
  readonly #tallies = new Map<string, number[]>()
  readonly #numbers = new Map<string, number>()
  readonly #pools = new Map<string, readonly number[]>()
  readonly #listeners = new Map<string, Listener>()
  readonly #logWatchers = new Set<() => void>()
  readonly #open = new Set<OpenTransaction>()
  /** Rows locked by open transactions, by name: by one exclusively, or by several in shared mode. */
  readonly #locks = new Map<string, OpenTransaction>()
  readonly #shares = new Map<string, Set<OpenTransaction>>()
  /** The transaction whose statement is running. */
  #current: OpenTransaction | null = null

  constructor(options: DatabaseOptions) {
    this.now = options.now
    this.elapsed = options.elapsed ?? options.now
    this.#shardsPerPool = options.shards ?? 1
    this.#notify = options.notify ?? ((_process, receive) => receive())
    this.#later = options.later ?? (() => {})
    const assertFree = (table: string, key: string | Serial) => this.assertFree(table, key)
    this.tables = new Tables({ journal: this.#journal, assertFree })
  }

  /** The next number of a sequence. Rolled-back numbers are not reused. */
  next(sequence: 'alarms' | 'timers' | 'events' | 'inFlight' | 'processes' | 'documents' | 'inbox'): Serial {
    const number = (this.#numbers.get(sequence) ?? 0) + 1
    this.#numbers.set(sequence, number)
    return number
  }

  /** A pool's shards. They persist even if the transaction that created the pool rolls back. */
  shardsOf(pool: string): readonly number[] {
    const known = this.#pools.get(pool)
    if (known !== undefined) return known
    const first = this.#pools.size * this.#shardsPerPool + 1
    const shards = Array.from({ length: this.#shardsPerPool }, (_, slot) => first + slot)
    this.#pools.set(pool, shards)
    return shards
  }

  /** The same for an alarm, with the limit on the number of pools. */
  shardsFor(pool: string): readonly number[] {
    if (!this.#pools.has(pool)) assertPoolsFit([pool], this.#pools.size)
    return this.shardsOf(pool)
  }

  /** The current state of a shard. It has no holder until it is first acquired. */
  shard(shard: number, pool: string): ShardRow {
    return this.tables.shards.get(shard) ?? { shard, pool, holder: null, epoch: 0 }
  }

  /** All shards of these pools, or of all pools. */
  shardsIn(pools: Iterable<string> = this.#pools.keys()): ShardRow[] {
    return [...pools].flatMap((pool) => this.shardsOf(pool).map((shard) => this.shard(shard, pool)))
  }

  /** The shards that a process holds. */
  shardsOfProcess(process: string): ShardRow[] {
    return this.shardsIn().filter(({ holder }) => holder === process)
  }

  /** Whether the lease's epoch is still the shard's epoch. */
  isOwn({ shard, pool, epoch }: Pick<Lease, 'shard' | 'pool' | 'epoch'>): boolean {
    return this.shard(shard, pool).epoch === epoch
  }

  /** The same, and its holder has not released it. */
  isHolder(lease: Lease): boolean {
    return this.isOwn(lease) && this.shard(lease.shard, lease.pool).holder === lease.holder
  }

  /** Adds to owners' sums, which no transaction locks. */
  addTallies(rows: readonly TallyRow[]): void {
    for (const { scope, sums } of rows) {
      const add = (sign: number) => {
        const kept = this.tallyOf(scope)
        for (const [index, sum] of sums.entries()) kept[index]! += sign * sum
        this.#tallies.set(scopedName(scope), kept)
      }
      add(1)
      this.#journal.note({ table: 'tallies', key: null, undo: () => add(-1), redo: () => add(1) })
    }
  }

  /** The tallies of each owner of a scope. */
  talliesIn(wanted: ReadScope): { scope: Scope; sums: number[] }[] {
    const all = [...this.#tallies].map(([name, sums]) => {
      const [tenant, owner] = JSON.parse(name) as [string, string]
      return { scope: { tenant, owner }, sums }
    })
    return all.filter(({ scope }) => isSeen(wanted, scope))
  }

  noTally(): number[] {
    return Array.from({ length: SUMS }, () => 0)
  }

  tallyOf(scope: Scope): number[] {
    return this.#tallies.get(scopedName(scope)) ?? this.noTally()
  }

  /** Runs a statement as its own transaction: all of it or nothing. */
  atomic<T>(work: () => T): T {
    try {
      const answer = work()
      this.#assertDiskSpace(this.#journal.length)
      this.#journal.forget()
      return answer
    } catch (thrown) {
      this.#journal.undoTo(0)
      throw thrown
    }
  }

  /** Opens a transaction for several statements. */
  begin(process: string, options: TransactionOptions = {}): OpenTransaction {
    const tx = new OpenTransaction(process, options)
    this.#open.add(tx)
    return tx
  }

  /** Runs a statement within an open transaction. Its writes are visible only in the transaction. */
  within<T>(tx: OpenTransaction, work: () => T): T {
    assertOpen(tx)
    const before = [...tx.steps]
    for (const step of before) step.redo()
    this.#current = tx
    try {
      const answer = work()
      const made = this.#journal.since(0)
      this.#assertDiskSpace(made.length)
      for (const { table, key } of made) if (key !== null) this.#lock(tx, `${table}:${key}`)
      tx.steps.push(...made)
      return answer
    } finally {
      this.#current = null
      this.#journal.undoTo(0)
      for (const step of before.reverse()) step.undo()
      if (tx.idleMsMax !== undefined) this.endIn(tx, tx.idleMsMax)
    }
  }

  /** Ends a transaction after this much elapsed time, unless called for it again before. */
  endIn(tx: OpenTransaction, ms: number): void {
    tx.expiresAt = this.elapsed() + ms
    this.#later(ms, () => {
      if (this.elapsed() >= tx.expiresAt) this.rollback(tx)
    })
  }

  /** Makes a transaction's writes visible to everyone. */
  commit(tx: OpenTransaction): void {
    assertOpen(tx)
    try {
      this.#assertDiskSpace(tx.steps.length)
      for (const step of tx.steps) step.redo()
    } finally {
      this.#release(tx)
    }
  }

  rollback(tx: OpenTransaction): void {
    if (tx.isOpen) this.#release(tx)
  }

  /** Rolls back the transactions of a process that died or lost its connections. It gets no more notices. */
  cutOff(process: string): void {
    for (const tx of this.#open) if (tx.process === process) this.rollback(tx)
    this.#listeners.delete(process)
  }

  /** Ends the handler transactions of a dead lease holder, because others wait for their locks. */
  endHandlers(process: string): void {
    for (const tx of [...this.#open])
      if (tx.process === process && tx.isHandler && !tx.isSettling) this.rollback(tx)
  }

  /** Restarts the database: uncommitted changes are lost, and no process listens any more. */
  crash(): void {
    for (const tx of [...this.#open]) this.rollback(tx)
    this.#listeners.clear()
  }

  /** Fills the disk: every write fails from now on. Returns how to free it again. */
  fill(onRefused: () => void): () => void {
    this.#fillings.add(onRefused)
    return () => this.#fillings.delete(onRefused)
  }

  /** Locks a row, or the name of a future row, until the transaction ends. */
  lock(table: string, key: string | Serial): void {
    this.assertFree(table, key)
    if (this.#current !== null) this.#lock(this.#current, `${table}:${key}`)
  }

  /** The same, unless another transaction has locked it. */
  lockIfFree(table: string, key: string | Serial): void {
    if (!this.isLocked(table, key)) this.lock(table, key)
  }

  /** The same in shared mode. */
  share(table: string, key: string | Serial): void {
    const row = `${table}:${key}`
    const holder = this.#live(this.#locks.get(row))
    if (holder !== null) throw new Blocked(holder)
    if (this.#current === null) return
    this.#current.rows.add(row)
    this.#shares.set(row, (this.#shares.get(row) ?? new Set()).add(this.#current))
  }

  /** Waits until no other open transaction has locked the row, exclusively or shared. */
  assertFree(table: string, key: string | Serial): void {
    const holder = this.#holder(`${table}:${key}`)
    if (holder !== null) throw new Blocked(holder)
  }

  /** Whether another open transaction has locked the row exclusively. */
  isLockedExclusively(table: string, key: string | Serial): boolean {
    return this.#live(this.#locks.get(`${table}:${key}`)) !== null
  }

  /** Whether another open transaction has locked the row, exclusively or shared. */
  isLocked(table: string, key: string | Serial): boolean {
    return this.#holder(`${table}:${key}`) !== null
  }

  /** Waits for transactions that may still commit events before this number, so that a reader does not miss them. */
  assertWhole(seq: Serial): void {
    for (const tx of this.#open) {
      const isBelow = ({ table, key }: Step) => table === 'events' && (key as Serial) <= seq
      if (tx.steps.some(isBelow)) throw new Blocked(tx)
    }
  }

  /** Delivers notices to a process until it is cut off. */
  listen(process: string, listener: Listener): void {
    this.#listeners.set(process, listener)
  }

  isListening(process: string, listener: Listener): boolean {
    return this.#listeners.get(process) === listener
  }

  unlisten(process: string, listener: Listener): void {
    if (this.isListening(process, listener)) this.#listeners.delete(process)
  }

  /** Notifies every listening process, including the sender. */
  notify(text: string): void {
    for (const [process, listener] of [...this.#listeners]) this.#notify(process, () => listener(text))
  }

  /** Calls back at each commit, until the returned function is called. */
  onLogGrown(watcher: () => void): () => void {
    this.#logWatchers.add(watcher)
    return () => this.#logWatchers.delete(watcher)
  }

  /** The log may have grown. */
  logGrown(): void {
    for (const watcher of [...this.#logWatchers]) watcher()
  }

  /** A full disk as in PostgreSQL: the statement fails and writes nothing. */
  #assertDiskSpace(steps: number): void {
    if (steps === 0 || this.#fillings.size === 0) return
    for (const onRefused of this.#fillings) onRefused()
    const full = new Error('could not extend file: No space left on device')
    throw storeFailure(Object.assign(full, { code: '53100' }), 'simulated')
  }

  /** Another transaction that has locked the row, exclusively or shared. */
  #holder(row: string): OpenTransaction | null {
    if (this.#locks.size + this.#shares.size === 0) return null
    const holder = this.#live(this.#locks.get(row))
    if (holder !== null) return holder
    for (const sharer of [...(this.#shares.get(row) ?? [])]) {
      const other = this.#live(sharer)
      if (other !== null) return other
    }
    return null
  }

  /** The transaction, unless its statement is running. A transaction that has been idle for too long is ended. */
  #live(holder: OpenTransaction | undefined): OpenTransaction | null {
    if (holder === undefined || holder === this.#current) return null
    if (this.elapsed() < holder.expiresAt) return holder
    this.rollback(holder)
    return null
  }

  #lock(tx: OpenTransaction, row: string): void {
    tx.rows.add(row)
    this.#locks.set(row, tx)
  }

  #release(tx: OpenTransaction): void {
    for (const row of tx.rows) {
      if (this.#locks.get(row) === tx) this.#locks.delete(row)
      const sharers = this.#shares.get(row)
      if (sharers?.delete(tx) && sharers.size === 0) this.#shares.delete(row)
    }
    this.#open.delete(tx)
    tx.end()
  }
}

/** A statement may still have been in transit when its transaction was ended. */
function assertOpen(tx: OpenTransaction): void {
  if (!tx.isOpen) throw new WakefulError('store.unavailable', {})
}
