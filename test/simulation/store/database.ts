import { assertPoolsFit, type Scope, type Serial } from '../../../src/alarm/index.ts'
import { WakefulError } from '../../../src/error.ts'
import type { Lease, TallyRow } from '../../../src/stores/index.ts'
import { storeFailure } from '../../../src/stores/postgres/connection/errors.ts'
import { Journal, type Step } from './journal.ts'
import { type ShardRow, scopedName, Tables } from './tables.ts'
import { Blocked, OpenTransaction, type TransactionOptions } from './transaction.ts'

/** Who is notified. */
type Listener = (text: string) => void

/** How a notice reaches a process that listens: at once, where nothing befalls it. */
type Courier = (process: string, receive: () => void) => void

/** How a simulated database is made. */
export interface DatabaseOptions {
  /** The database's own clock, by which leases end. */
  readonly now: () => number
  /** What passes while it runs, also where its clock is set: by this it ends who stands still (`now`). */
  readonly elapsed?: () => number
  /** Shards per pool. */
  readonly shards?: number
  readonly notify?: Courier
  /** Calls back after so many milliseconds of what passes at the database. Without it nothing ends by itself. */
  readonly later?: (ms: number, call: () => void) => void
}

/** So many sums are an owner's figures: those of `Tallies`, in its order. */
const SUMS = 9

/**
 * A database in memory that several simulated processes share. A statement runs alone and to its end, so that a call
 * whose reads and writes are one statement is atomic. What outlasts a statement is an open transaction.
 */
export class SimulatedDatabase {
  readonly now: () => number
  readonly elapsed: () => number
  readonly tables: Tables
  readonly #shardsPerPool: number
  readonly #notify: Courier
  readonly #later: (ms: number, call: () => void) => void
  /** What fills the disk at present, each told of every write that it refuses. */
  readonly #fillings = new Set<() => void>()
  readonly #journal = new Journal()
  readonly #tallies = new Map<string, number[]>()
  readonly #numbers = new Map<string, number>()
  readonly #pools = new Map<string, readonly number[]>()
  readonly #listeners = new Map<string, Listener>()
  readonly #logWatchers = new Set<() => void>()
  readonly #open = new Set<OpenTransaction>()
  /** Rows that open transactions have locked, by name: one alone, or several that share the lock. */
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

  /** The next number of a sequence: given out once, also to those who are rolled back. */
  next(sequence: 'alarms' | 'timers' | 'events' | 'flights' | 'processes' | 'documents' | 'inbox'): Serial {
    const number = (this.#numbers.get(sequence) ?? 0) + 1
    this.#numbers.set(sequence, number)
    return number
  }

  /** A pool's shards: numbers that stay, whatever comes of the transaction that met the pool first. */
  shardsOf(pool: string): readonly number[] {
    const known = this.#pools.get(pool)
    if (known !== undefined) return known
    const first = this.#pools.size * this.#shardsPerPool + 1
    const shards = Array.from({ length: this.#shardsPerPool }, (_, slot) => first + slot)
    this.#pools.set(pool, shards)
    return shards
  }

  /** The same for an alarm, which makes no more pools than a store has room for. */
  shardsFor(pool: string): readonly number[] {
    if (!this.#pools.has(pool)) assertPoolsFit([pool], this.#pools.size)
    return this.shardsOf(pool)
  }

  /** A shard as it stands; nobody's where nobody has claimed it yet. */
  shard(shard: number, pool: string): ShardRow {
    return this.tables.shards.get(shard) ?? { shard, pool, holder: null, epoch: 0 }
  }

  /** All shards of these pools, or of all there are. */
  shardsIn(pools: Iterable<string> = this.#pools.keys()): ShardRow[] {
    return [...pools].flatMap((pool) => this.shardsOf(pool).map((shard) => this.shard(shard, pool)))
  }

  /** The shards that a process holds. */
  shardsHeldBy(process: string): ShardRow[] {
    return this.shardsIn().filter(({ holder }) => holder === process)
  }

  /** Whether the lease is still its shard's. */
  isOwn({ shard, pool, epoch }: Pick<Lease, 'shard' | 'pool' | 'epoch'>): boolean {
    return this.shard(shard, pool).epoch === epoch
  }

  /** The same, and its holder has not given it back. */
  isHolder(lease: Lease): boolean {
    return this.isOwn(lease) && this.shard(lease.shard, lease.pool).holder === lease.holder
  }

  /** Adds to owners' figures: sums, which no transaction has to itself. */
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

  /** The sums of all of a tenant's owners. */
  talliesOf(tenant: string): number[][] {
    return [...this.#tallies].filter(([name]) => JSON.parse(name)[0] === tenant).map(([, sums]) => sums)
  }

  tallyOf(scope: Scope): number[] {
    return this.#tallies.get(scopedName(scope)) ?? Array.from({ length: SUMS }, () => 0)
  }

  /** Runs a statement that is a transaction of its own: all of it or nothing. */
  atomic<T>(work: () => T): T {
    try {
      const answer = work()
      this.#assertRoom(this.#journal.length)
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

  /** Runs a statement within an open transaction: it sees what that one wrote, and nobody else does. */
  within<T>(tx: OpenTransaction, work: () => T): T {
    assertOpen(tx)
    const before = [...tx.steps]
    for (const step of before) step.redo()
    this.#current = tx
    try {
      const answer = work()
      const made = this.#journal.since(0)
      this.#assertRoom(made.length)
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

  /** Ends a transaction when so much has passed, unless this is called for it again by then. */
  endIn(tx: OpenTransaction, ms: number): void {
    tx.expiresAt = this.elapsed() + ms
    this.#later(ms, () => {
      if (this.elapsed() >= tx.expiresAt) this.rollback(tx)
    })
  }

  /** Makes what was written in a transaction everybody's. */
  commit(tx: OpenTransaction): void {
    assertOpen(tx)
    try {
      this.#assertRoom(tx.steps.length)
      for (const step of tx.steps) step.redo()
    } finally {
      this.#release(tx)
    }
  }

  rollback(tx: OpenTransaction): void {
    if (tx.isOpen) this.#release(tx)
  }

  /** A process is gone, or its connections are: what it had open is rolled back, and no notice reaches it any more. */
  cutOff(process: string): void {
    for (const tx of this.#open) if (tx.process === process) this.rollback(tx)
    this.#listeners.delete(process)
  }

  /** Ends the transactions of a dead owner's handlers: nobody may be there, and what they have is waited for. */
  endHandlers(process: string): void {
    for (const tx of [...this.#open])
      if (tx.process === process && tx.isHandler && !tx.isSettling) this.rollback(tx)
  }

  /** The database goes down, and comes up as it was: what nobody had committed is gone, and nobody listens any more. */
  crash(): void {
    for (const tx of [...this.#open]) this.rollback(tx)
    this.#listeners.clear()
  }

  /** Fills the disk: from now on every statement that writes fails. Answers how to make room again. */
  fill(onRefused: () => void): () => void {
    this.#fillings.add(onRefused)
    return () => this.#fillings.delete(onRefused)
  }

  /** Keeps a row, or a name that is to become one, from changing until the transaction ends. */
  hold(table: string, key: string | Serial): void {
    this.assertFree(table, key)
    if (this.#current !== null) this.#lock(this.#current, `${table}:${key}`)
  }

  /** The same, unless another has it. */
  holdIfFree(table: string, key: string | Serial): void {
    if (!this.isHeld(table, key)) this.hold(table, key)
  }

  /** The same, together with others that share the lock. */
  share(table: string, key: string | Serial): void {
    const row = `${table}:${key}`
    const holder = this.#live(this.#locks.get(row))
    if (holder !== null) throw new Blocked(holder)
    if (this.#current === null) return
    this.#current.rows.add(row)
    this.#shares.set(row, (this.#shares.get(row) ?? new Set()).add(this.#current))
  }

  /** Waits until no other open transaction has the row, alone or shared. */
  assertFree(table: string, key: string | Serial): void {
    const holder = this.#holder(`${table}:${key}`)
    if (holder !== null) throw new Blocked(holder)
  }

  /** Whether another open transaction has the row to itself. */
  isLocked(table: string, key: string | Serial): boolean {
    return this.#live(this.#locks.get(`${table}:${key}`)) !== null
  }

  /** Whether another open transaction has the row, alone or shared. */
  isHeld(table: string, key: string | Serial): boolean {
    return this.#holder(`${table}:${key}`) !== null
  }

  /** Waits for those who may yet commit events that come before this number: a reader must not pass them over. */
  assertWhole(seq: Serial): void {
    for (const tx of this.#open) {
      const isBelow = ({ table, key }: Step) => table === 'events' && (key as Serial) <= seq
      if (tx.steps.some(isBelow)) throw new Blocked(tx)
    }
  }

  /** Lets a process receive notices, until it is cut off. */
  listen(process: string, listener: Listener): void {
    this.#listeners.set(process, listener)
  }

  isListening(process: string, listener: Listener): boolean {
    return this.#listeners.get(process) === listener
  }

  unlisten(process: string, listener: Listener): void {
    if (this.isListening(process, listener)) this.#listeners.delete(process)
  }

  /** Notifies every process that listens, also the sender itself. */
  notify(text: string): void {
    for (const [process, listener] of [...this.#listeners]) this.#notify(process, () => listener(text))
  }

  /** Calls back when something is committed, until the returned function is called. */
  onLogGrown(watcher: () => void): () => void {
    this.#logWatchers.add(watcher)
    return () => this.#logWatchers.delete(watcher)
  }

  /** The log may have grown. */
  logGrown(): void {
    for (const watcher of [...this.#logWatchers]) watcher()
  }

  /** What a full disk is to PostgreSQL: the statement fails, and nothing of it is written. */
  #assertRoom(steps: number): void {
    if (steps === 0 || this.#fillings.size === 0) return
    for (const onRefused of this.#fillings) onRefused()
    const full = new Error('could not extend file: No space left on device')
    throw storeFailure(Object.assign(full, { code: '53100' }), 'simulated')
  }

  /** Another transaction that has the row, alone or shared. */
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

  /** The transaction, unless it is the one whose statement is running. One that has stood still for too long is ended. */
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

/** A statement may still have been on its way when its transaction was ended. */
function assertOpen(tx: OpenTransaction): void {
  if (!tx.isOpen) throw new WakefulError('store.unavailable', {})
}
