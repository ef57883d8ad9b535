import { setImmediate as turn } from 'node:timers/promises'
import type { Caller } from '../auth/index.ts'
import { RequestQueue } from './request-queue.ts'

/** How much of the log one reader is given in one go, and how many in one turn of the event loop. */
const STRIDE_BYTES = 64 * 1024
const AT_ONCE = 4
/** What an event costs beside its data. */
const EVENT_BYTES = 128

/**
 * Keeps many readers of the log from being all that happens: what the kernel takes at once never waits for anything, so
 * that a thousand of them could read gigabytes in one turn of the event loop.
 */
export class EventReadLimiter {
  readonly #turns = new RequestQueue({ atOnce: AT_ONCE, waitingMax: Number.POSITIVE_INFINITY })

  /** Does what somebody begins to read with. */
  begin<T>(caller: Caller, read: () => Promise<T>): Promise<T> {
    return this.#turns.take(caller, {}, async () => {
      await turn()
      return read()
    })
  }

  /** What one reader calls after each event. */
  walker(caller: Caller): (bytes: number) => Promise<void> | undefined {
    let sinceRest = 0
    return (bytes) => {
      sinceRest += bytes + EVENT_BYTES
      if (sinceRest < STRIDE_BYTES) return undefined
      sinceRest = 0
      return this.#turns.take(caller, {}, () => turn())
    }
  }
}
