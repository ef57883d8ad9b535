import type { Scope } from '../../alarm/index.ts'
import { WakefulError } from '../../error.ts'

/** The limits of a queue. */
export interface QueueLimits {
  readonly concurrency: number
  /** How many of one owner may wait. */
  readonly waitingMax: number
  /** How many may wait in all, where each holds memory while it waits. */
  readonly totalWaitingMax?: number
}

/** The signal is read only for those that wait: Node creates it on first use. */
interface Abortable {
  readonly signal?: AbortSignal
}

type Start = () => void

const RETRY_MS = 1_000

/**
 * Runs a bounded number of requests at the same time and lets the rest wait. Tenants take turns, and so do the owners
 * of each tenant: an owner that sends a thousand requests waits for them, and others do not.
 */
export class RequestQueue {
  readonly #limits: QueueLimits
  /** By tenant and owner, the next ones first. */
  readonly #waiting = new Map<string, Map<string, Set<Start>>>()
  #running = 0
  #waitingCount = 0

  constructor(limits: QueueLimits) {
    this.#limits = limits
  }

  /** A function that goes through this queue, as its caller. */
  wrap<C extends { readonly caller: Scope } & Abortable, I, R>(
    call: (input: I, context: C) => R | Promise<R>,
  ): (input: I, context: C) => Promise<R> {
    return (input, context) => this.run(context.caller, context, () => call(input, context))
  }

  /** Does the work when it is its turn; never if the caller has gone by then. */
  async run<T>(scope: Scope, abortable: Abortable, work: () => T | Promise<T>): Promise<T> {
    if (this.#running < this.#limits.concurrency) this.#running += 1
    else await this.#turn(scope, abortable.signal)
    try {
      return await work()
    } finally {
      if (this.#waitingCount === 0) this.#running -= 1
      // Work on what is in memory never waits for I/O: without a pause, the queue would block the event loop.
      else setImmediate(() => this.#next())
    }
  }

  #turn(scope: Scope, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted === true) throw callerGone()
    const own = this.#waiting.get(scope.tenant)?.get(scope.owner) ?? new Set()
    const { waitingMax, totalWaitingMax = Number.POSITIVE_INFINITY } = this.#limits
    if (this.#waitingCount >= totalWaitingMax) throw tooMany(this.#waitingCount, false)
    if (own.size >= waitingMax) throw tooMany(own.size, true)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const start = () => {
      signal?.removeEventListener('abort', leave)
      resolve()
    }
    const leave = () => {
      this.#remove(scope, start)
      reject(callerGone())
    }
    signal?.addEventListener('abort', leave, { once: true })
    this.#add(scope, own.add(start))
    this.#waitingCount += 1
    return promise
  }

  /** Starts the next one in the place of one that has ended. */
  #next(): void {
    const [tenant] = this.#waiting.keys()
    if (tenant === undefined) {
      this.#running -= 1
      return
    }
    const owners = this.#waiting.get(tenant)!
    const [owner] = owners.keys()
    const own = owners.get(owner!)!
    const [start] = own
    this.#remove({ tenant, owner: owner! }, start!)
    // Their other requests come after the next one of everyone else.
    if (owners.delete(owner!)) owners.set(owner!, own)
    if (this.#waiting.delete(tenant)) this.#waiting.set(tenant, owners)
    start!()
  }

  #add({ tenant, owner }: Scope, own: Set<Start>): void {
    const owners = this.#waiting.get(tenant) ?? new Map<string, Set<Start>>()
    this.#waiting.set(tenant, owners.set(owner, own))
  }

  #remove({ tenant, owner }: Scope, start: Start): void {
    const owners = this.#waiting.get(tenant)!
    const own = owners.get(owner)!
    own.delete(start)
    this.#waitingCount -= 1
    if (own.size === 0) owners.delete(owner)
    if (owners.size === 0) this.#waiting.delete(tenant)
  }
}

function callerGone(): WakefulError {
  return new WakefulError('request.cancelled', {})
}

function tooMany(count: number, own: boolean): WakefulError {
  return new WakefulError('limit.calls', { count, own }, { retryAfterMs: RETRY_MS })
}
