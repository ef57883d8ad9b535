import type { Clock } from '../time/index.ts'
import { Circuit, type CircuitSettings } from './circuit.ts'
import { Postponed } from './target-kind.ts'

/** How many calls one endpoint gets at a time, and when its circuit opens. */
export interface EndpointSettings extends CircuitSettings {
  /** Calls at a time. */
  readonly concurrency: number
}

/** The longest wait in an endpoint's queue: a slot that waits for a slow endpoint is missing for the others. */
const QUEUE_MS_MAX = 250
const QUEUE_MAX = 1_000
const POSTPONED_MS_MIN = 50
const POSTPONED_MS_MAX = 30_000
const SMOOTHING = 0.1

/** A running call. */
interface Call {
  readonly startedAt: number
}

/** One origin as one tenant calls it: its circuit, and its queue. */
export class Endpoint {
  readonly origin: string
  readonly circuit: Circuit
  readonly #clock: Clock
  readonly #concurrency: number
  readonly #calls = new Set<Call>()
  readonly #queue = new Set<() => void>()
  #averageMs = 0

  constructor(origin: string, clock: Clock, settings: EndpointSettings) {
    this.origin = origin
    this.circuit = new Circuit(clock, settings)
    this.#clock = clock
    this.#concurrency = settings.concurrency
  }

  get isInUse(): boolean {
    return this.#calls.size > 0 || this.#queue.size > 0
  }

  /**
   * Waits until a call may begin, and begins it. If the queue is so long that waiting would waste a slot, it throws
   * `Postponed`: the occurrence goes back and comes again later.
   */
  enter(signal: AbortSignal, waitMsMax: number): Call | Promise<Call> {
    if (this.#calls.size < this.#concurrency) return this.#begin()
    return this.#enqueue(signal, Math.min(waitMsMax, QUEUE_MS_MAX))
  }

  leave(call: Call): void {
    this.#calls.delete(call)
    const durationMs = this.#clock.monotonic() - call.startedAt
    this.#averageMs += (durationMs - this.#averageMs) * SMOOTHING
    for (const next of this.#queue) {
      next()
      return
    }
  }

  #begin(): Call {
    const call = { startedAt: this.#clock.monotonic() }
    this.#calls.add(call)
    return call
  }

  #enqueue(signal: AbortSignal, waitMsMax: number): Promise<Call> {
    const waitMs = this.#waitMs()
    if (waitMs > waitMsMax || this.#queue.size >= QUEUE_MAX) return Promise.reject(this.#postponed(waitMs))
    return new Promise((resolve, reject) => {
      const leaveQueue = () => {
        cancelTimer()
        this.#queue.delete(next)
      }
      const next = () => {
        leaveQueue()
        // At once, so that a caller of this moment does not find the place free.
        resolve(this.#begin())
      }
      const cancelTimer = this.#clock.setTimer(waitMsMax, () => {
        leaveQueue()
        reject(this.#postponed(this.#waitMs()))
      })
      this.#queue.add(next)
      signal.addEventListener('abort', () => {
        leaveQueue()
        reject(new Postponed('broken off in the queue', 0))
      })
    })
  }

  /** The expected wait, judged by how long calls have taken, and by the oldest that still runs. */
  #waitMs(): number {
    let oldestMs = 0
    for (const { startedAt } of this.#calls) {
      oldestMs = this.#clock.monotonic() - startedAt
      break
    }
    return (Math.max(this.#averageMs, oldestMs / 2) * (this.#queue.size + 1)) / this.#concurrency
  }

  #postponed(waitMs: number): Postponed {
    const boundedMs = Math.min(Math.max(waitMs, POSTPONED_MS_MIN), POSTPONED_MS_MAX)
    return new Postponed(`${this.origin} has ${this.#concurrency} calls under way`, boundedMs)
  }
}

/** Beyond the first, healthy endpoints that are not in use are forgotten; beyond the second, all that are not in use. */
const ENDPOINTS_KEPT = 1_000
const ENDPOINTS_MAX = 10_000

/** The endpoints that are called, by tenant: one tenant's calls to an origin do not delay another's. */
export class Endpoints {
  readonly #clock: Clock
  readonly #settings: EndpointSettings
  readonly #known = new Map<string, Endpoint>()

  constructor(clock: Clock, settings: EndpointSettings) {
    this.#clock = clock
    this.#settings = settings
  }

  of(tenant: string, origin: string): Endpoint {
    const name = `${origin} ${tenant}`
    const known = this.#known.get(name)
    if (known !== undefined) return known
    if (this.#known.size >= ENDPOINTS_KEPT) this.#forget()
    const endpoint = new Endpoint(origin, this.#clock, this.#settings)
    this.#known.set(name, endpoint)
    return endpoint
  }

  #forget(): void {
    for (const [name, endpoint] of this.#known) {
      const isSpare = endpoint.circuit.isSound || this.#known.size >= ENDPOINTS_MAX
      if (isSpare && !endpoint.isInUse) this.#known.delete(name)
    }
  }
}
