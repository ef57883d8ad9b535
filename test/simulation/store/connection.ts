import { WakefulError } from '../../../src/error.ts'
import { isContention, storeFailure } from '../../../src/stores/postgres/connection/errors.ts'
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
  #closed = false

  constructor(database: SimulatedDatabase, process: string, wire: Wire) {
    this.database = database
    this.process = process
    this.#wire = wire
  }

  get isClosed(): boolean {
    return this.#closed
  }

  close(): void {
    this.#closed = true
  }

  assertOpen(): void {
    if (this.#closed) throw new WakefulError('store_unavailable', `the store of ${this.process} is closed`)
  }

  /** Sends a statement and answers with what it answered. */
  async send<T>(name: string, run: () => T, tx?: OpenTransaction): Promise<T> {
    for (;;) {
      const answer = await this.#retried(name, () => orBlocked(run), tx === undefined ? TRIES_MAX : 1)
      if (!(answer instanceof Blocked)) return answer
      await (tx === undefined ? answer.by.ended : tx.waitFor(answer.by))
    }
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
      throw new WakefulError('store_unavailable', `${name}: ${thrown.message}`, { cause: thrown })
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
