import type { Clock } from '../time/index.ts'
import { Postponed } from './targets.ts'

/** When a circuit opens, and for how long. */
export interface CircuitSettings {
  /** This many failures in a row open it. */
  readonly failuresMax: number
  /** How long it stays open at first; twice as long after every probe that fails, up to `openMsMax`. */
  readonly openMs: number
  readonly openMsMax: number
}

/** How long a refused occurrence waits while a probe is running. */
const PROBING_MS = 1_000
/** How far apart refused occurrences come back: ten thousand at the same moment would cost as much as the calls. */
const REFUSED_SPACING_MS = 2
const REFUSED_SPACING_MS_MAX = 30_000

/**
 * A circuit breaker. While it is closed, every call is allowed. After `failuresMax` failures in a row it opens, and no call
 * is allowed for a while. Then a single call is allowed as a probe: its outcome closes the circuit or opens it again.
 */
export class Circuit {
  readonly #clock: Clock
  readonly #settings: CircuitSettings
  #failures = 0
  /** On the monotonic clock; null while it is closed. */
  #openUntil: number | null = null
  #openMs: number
  #isProbing = false
  #refused = 0

  constructor(clock: Clock, settings: CircuitSettings) {
    this.#clock = clock
    this.#settings = settings
    this.#openMs = settings.openMs
  }

  /** Whether there was no failure since the last success. */
  get isHealthy(): boolean {
    return this.#failures === 0 && this.#openUntil === null
  }

  get failures(): number {
    return this.#failures
  }

  /** Null if a call is allowed now. Otherwise refuses it: returns how long to wait, a little longer for each one refused. */
  refuseUnlessAllowed(): number | null {
    if (this.#openUntil === null) return null
    const leftMs = this.#openUntil - this.#clock.monotonic()
    if (leftMs <= 0 && !this.#isProbing) return null
    const spacingMs = Math.min(REFUSED_SPACING_MS * this.#refused, REFUSED_SPACING_MS_MAX)
    this.#refused += 1
    return Math.max(leftMs, this.#isProbing ? PROBING_MS : 0) + spacingMs
  }

  /** A call begins. While the circuit is open it is the probe, and no other call is allowed. */
  begin(): void {
    if (this.#openUntil !== null) this.#isProbing = true
  }

  succeeded(): void {
    this.#failures = 0
    this.#openUntil = null
    this.#openMs = this.#settings.openMs
    this.#isProbing = false
    this.#refused = 0
  }

  failed(): void {
    this.#failures += 1
    const { failuresMax, openMsMax } = this.#settings
    if (this.#openUntil === null) {
      if (this.#failures >= failuresMax) this.#open()
    } else if (this.#isProbing) {
      this.#openMs = Math.min(2 * this.#openMs, openMsMax)
      this.#open()
    }
  }

  /** A call was broken off on our side: it says nothing about the endpoint, and another may be the probe. */
  abandoned(): void {
    this.#isProbing = false
  }

  #open(): void {
    this.#openUntil = this.#clock.monotonic() + this.#openMs
    this.#isProbing = false
    this.#refused = 0
  }
}

/** How many calls one endpoint gets at a time, and when its circuit opens. */
export interface EndpointSettings extends CircuitSettings {
  /** Calls at a time. */
  readonly concurrency: number
}

/** The longest wait in an endpoint's queue: a delivery slot that waits here is not available to other endpoints. */
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
    const [next] = this.#queue
    next?.()
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
        // Begin before resolving: otherwise another caller could take the place in between.
        resolve(this.#begin())
      }
      const cancelTimer = this.#clock.setTimer(waitMsMax, () => {
        leaveQueue()
        reject(this.#postponed(this.#waitMs()))
      })
      this.#queue.add(next)
      signal.addEventListener('abort', () => {
        leaveQueue()
        reject(new Postponed('aborted in the queue', 0))
      })
    })
  }

  /** The expected wait, judged by how long calls have taken, and by the oldest that still runs. */
  #waitMs(): number {
    const [oldest] = this.#calls
    const oldestMs = oldest === undefined ? 0 : this.#clock.monotonic() - oldest.startedAt
    return (Math.max(this.#averageMs, oldestMs / 2) * (this.#queue.size + 1)) / this.#concurrency
  }

  #postponed(waitMs: number): Postponed {
    const boundedMs = Math.min(Math.max(waitMs, POSTPONED_MS_MIN), POSTPONED_MS_MAX)
    return new Postponed(`${this.origin} has ${this.#concurrency} calls under way`, boundedMs)
  }
}

/** With more endpoints than this, healthy ones that are not in use are forgotten. */
const ENDPOINTS_KEPT = 1_000
/** With more endpoints than this, all that are not in use are forgotten. */
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
      const isSpare = endpoint.circuit.isHealthy || this.#known.size >= ENDPOINTS_MAX
      if (isSpare && !endpoint.isInUse) this.#known.delete(name)
    }
  }
}
