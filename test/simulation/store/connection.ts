import { WakefulError } from '../../../src/error.ts'
import { isContention, storeFailure } from '../../../src/stores/postgres/connection/errors.ts'
import type { Clock } from '../../../src/time/index.ts'
import type { SimulatedDatabase } from './database.ts'
import { Blocked, type OpenTransaction } from './transaction.ts'
import { LinkLost, type Wire } from './wire.ts'

/** So often a statement that is a transaction by itself is sent again, as the PostgreSQL store does. */
const TRIES_MAX = 8

/** A process's way to the database: every statement goes over the wire, and waits for rows that others have. */
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

  /** Sends a statement and returns its answer. It fails where it would wait for a lock for longer than `lockMsMax`. */
  async send<T>(name: string, run: () => T, tx?: OpenTransaction, lockMsMax?: number): Promise<T> {
    const from = this.#clock.monotonic()
    for (;;) {
      const answer = await this.#retried(name, () => orBlocked(run), tx === undefined ? TRIES_MAX : 1)
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

  /** The same again, where the database ended it because another was in the way. */
  async #retried<T>(name: string, run: () => T, triesMax: number): Promise<T> {
    for (let tries = 1; ; tries++) {
      this.assertOpen()
      try {
        return await this.#overWire(name, run)
      } catch (thrown) {
        if (!isContention(thrown) || tries >= triesMax) throw storeFailure(thrown, name)
      }
    }
  }

  async #overWire<T>(name: string, run: () => T): Promise<T> {
    try {
      return await this.#wire(this.process, name, run)
    } catch (thrown) {
      if (!(thrown instanceof LinkLost)) throw thrown
      throw new WakefulError(
        'store.failed',
        { name, detail: 'the statement failed', text: thrown.message },
        { cause: thrown },
      )
    }
  }
}

/** Whether the link broke, so that nobody knows what came of the statement. */
export function isBroken(thrown: unknown): boolean {
  return thrown instanceof WakefulError && thrown.cause instanceof LinkLost
}

/** To be blocked is no failure of the statement: it waits, and runs again. */
function orBlocked<T>(run: () => T): T | Blocked {
  try {
    return run()
  } catch (thrown) {
    if (thrown instanceof Blocked) return thrown
    throw thrown
  }
}
