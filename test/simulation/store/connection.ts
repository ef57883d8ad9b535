import { WakefulError } from '../../../src/error.ts'
import { isContention, storeFailure } from '../../../src/stores/postgres/connection/errors.ts'
import type { Clock } from '../../../src/time/index.ts'
import type { SimulatedDatabase } from './database.ts'
import { Blocked, type OpenTransaction } from './transaction.ts'
import { LinkLost, type Wire } from './wire.ts'

/** How often a single-statement transaction is repeated, as in the PostgreSQL store. */
const ATTEMPTS_MAX = 8

/** A process's connection to the database. Every statement goes over the wire and waits for locked rows. */
export class Connection {
  readonly database: SimulatedDatabase
  readonly process: string
  readonly #wire: Wire
  readonly #clock: Clock
  #closed = false

  constructor(database: SimulatedDatabase, process: string, wire: Wire, clock: Clock) {
    this.database = database
    this.process = process
    this.#wire = wire
    this.#clock = clock
  }

  get isClosed(): boolean {
    return this.#closed
  }

  close(): void {
    this.#closed = true
  }

  assertOpen(): void {
    if (this.#closed) throw new WakefulError('store.closed', { name: `the store of ${this.process}` })
  }

  /** Sends a statement and returns its answer. Fails if it would wait longer than `lockMsMax` for a lock. */
  async send<T>(name: string, run: () => T, tx?: OpenTransaction, lockMsMax?: number): Promise<T> {
    const from = this.#clock.monotonic()
    for (;;) {
      const answer = await this.#retried(name, () => orBlocked(run), tx === undefined ? ATTEMPTS_MAX : 1)
      if (!(answer instanceof Blocked)) return answer
      if (tx !== undefined) await tx.waitFor(answer.by)
      else if (lockMsMax === undefined) await answer.by.ended
      else await this.#waitBriefly(name, answer.by, lockMsMax - (this.#clock.monotonic() - from))
    }
  }

  async #waitBriefly(name: string, by: OpenTransaction, ms: number): Promise<void> {
    let cancel = () => {}
    const late = new Promise<'late'>((resolve) => {
      cancel = this.#clock.setTimer(ms, () => resolve('late'))
    })
    const outcome = await Promise.race([by.ended, late])
    cancel()
    if (outcome !== 'late') return
    const failed = new Error('canceling statement due to lock timeout')
    throw storeFailure(Object.assign(failed, { code: '55P03' }), name)
  }

  /** Repeats a statement that the database aborted because of a conflict. */
  async #retried<T>(name: string, run: () => T, attemptsMax: number): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      this.assertOpen()
      try {
        return await this.#overWire(name, run)
      } catch (thrown) {
        if (!isContention(thrown) || attempt >= attemptsMax) throw storeFailure(thrown, name)
      }
    }
  }

  async #overWire<T>(name: string, run: () => T): Promise<T> {
    try {
      return await this.#wire(this.process, name, run)
    } catch (thrown) {
      if (!(thrown instanceof LinkLost)) throw thrown
      throw new WakefulError('store.unreachable', { name, cause: thrown.message }, { cause: thrown })
    }
  }
}

/** Whether the connection broke, so that the outcome of the statement is unknown. */
export function isBroken(thrown: unknown): boolean {
  return thrown instanceof WakefulError && thrown.cause instanceof LinkLost
}

/** A blocked statement has not failed: it waits and runs again. */
function orBlocked<T>(run: () => T): T | Blocked {
  try {
    return run()
  } catch (thrown) {
    if (thrown instanceof Blocked) return thrown
    throw thrown
  }
}
