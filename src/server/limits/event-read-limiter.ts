import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Scope } from '../../alarm/index.ts'
import { RequestQueue } from './request-queue.ts'

/** How much of the log one reader gets before others do, and how many readers get it in one turn of the event loop. */
const READ_BYTES = 64 * 1024
const READERS = 4
/** What an event costs besides its data. */
const EVENT_BYTES = 128

/**
 * Keeps readers of the event log from blocking everything else. The kernel may accept all that is sent at once: a
 * thousand readers could read gigabytes in one turn of the event loop.
 */
export class EventReadLimiter {
  readonly #queue = new RequestQueue({ concurrency: READERS, waitingMax: Number.POSITIVE_INFINITY })

  /** Does the first read of a reader. */
  begin<T>(scope: Scope, read: () => Promise<T>): Promise<T> {
    return this.#queue.run(scope, {}, async () => {
      await nextTurn()
      return read()
    })
  }

  /** The function that one reader calls after each event. */
  reader(scope: Scope): (bytes: number) => Promise<void> | undefined {
    let sinceTurn = 0
    return (bytes) => {
      sinceTurn += bytes + EVENT_BYTES
      if (sinceTurn < READ_BYTES) return undefined
      sinceTurn = 0
      return this.#queue.run(scope, {}, () => nextTurn())
    }
  }
}
