import { Tallies } from '../../index.ts'
import { CALENDARS_NOTICE } from '../../sharded/index.ts'
import { type Bindable, type Database, isBroken, type Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'
import { columns, Writes } from './row-writes.ts'
import type { ShardMap } from './shard-map.ts'

/** Each tally has several rows, so that concurrent writers rarely wait for each other. */
const TALLY_SLOTS = 8

/** What every batch of a store shares. */
export interface StoreContext {
  readonly shards: ShardMap
  /** The time to bind where the database's clock is not the authority; else null. */
  readonly moment: () => number | null
  readonly channel: string
  /** The notice to send with the commit of these wakes, or null. */
  readonly noticeFor: (wakes: ReadonlyMap<number, number>, isUserTransaction: boolean) => string | null
}

/** A transaction, the writes collected for it, and the store's context. */
export class WriteBatch {
  readonly session: Session
  writes: Writes
  readonly #context: StoreContext
  readonly #isUserTransaction: boolean
  readonly #tallies = new Tallies()

  constructor(session: Session, context: StoreContext, isUserTransaction = false) {
    this.session = session
    this.writes = new Writes(context.shards)
    this.#context = context
    this.#isUserTransaction = isUserTransaction
  }

  get moment(): () => number | null {
    return this.#context.moment
  }

  /** Drops what was collected and not accepted: it was rolled back. */
  clear(): void {
    this.writes = new Writes(this.#context.shards)
  }

  /** Writes what was collected so far, so that later statements see it. The tallies wait for the end. */
  async flush(): Promise<void> {
    await this.writes.flush(this.session)
    // Before a commit, the answers are not awaited here.
    if (this.#isUserTransaction) await this.session.acknowledged()
  }

  /** Keeps what was written, even if later work is rolled back. */
  accept(): void {
    this.#tallies.merge(this.writes.tallies)
    this.writes.tallies.drain()
  }

  /** Writes everything, with the tallies. */
  async finish(): Promise<void> {
    this.accept()
    await this.writes.flush(this.session, this.#figures())
    this.#notify()
    if (this.#isUserTransaction) await this.session.acknowledged()
  }

  #figures(): Bindable[] | null {
    const tallies = this.#tallies.drain()
    if (tallies.length === 0) return null
    const rows = tallies.map(({ scope, sums }) => [scope.tenant, scope.owner, ...sums])
    const slot = this.#isUserTransaction ? null : Math.floor(Math.random() * TALLY_SLOTS)
    return [slot, ...columns(rows)]
  }

  /** Notifies other processes, when this is committed, that a calendar was written. */
  notifyCalendars(): void {
    this.session.send(sql.notify, this.#context.channel, CALENDARS_NOTICE)
  }

  /** Notifies other processes of what falls due before their next heartbeat: once per commit, and with it. */
  #notify(): void {
    const notice = this.#context.noticeFor(this.writes.wakes, this.#isUserTransaction)
    if (notice !== null) this.session.send(sql.notify, this.#context.channel, notice)
  }
}

/** Runs work in a transaction, notifies others of what it wrote, and notes it after the commit. */
export async function inWriteBatch<T>(
  database: Database,
  context: StoreContext,
  work: (batch: WriteBatch) => Promise<T>,
  note: (batch: WriteBatch) => void,
): Promise<T> {
  let last: WriteBatch | undefined
  const inTransaction = async (session: Session) => {
    const batch = new WriteBatch(session, context)
    last = batch
    const answer = await work(batch)
    await batch.finish()
    return { answer, batch }
  }
  try {
    const { answer, batch } = await database.transaction(inTransaction)
    note(batch)
    return answer
  } catch (thrown) {
    // If only the answer was lost, it may be committed: then its wakes must be noted.
    if (last !== undefined && isBroken(thrown)) note(last)
    throw thrown
  }
}
