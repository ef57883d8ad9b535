import type { Clock } from '../time/index.ts'
import { Circuit, type CircuitSettings } from './circuit.ts'
import { Postponed } from './target-kind.ts'

/** How much one endpoint is asked at a time, and when it is left alone. */
export interface EndpointSettings extends CircuitSettings {
  /** Calls under way at a time. */
  readonly concurrency: number
}

/** Nobody stands in line longer: a hand that waits for a slow endpoint is missing at the others. */
const LINE_MS_MAX = 250
const LINE_MAX = 1_000
const POSTPONED_MS_MIN = 50
const POSTPONED_MS_MAX = 30_000
const SMOOTHING = 0.1

/** A call under way. */
interface Turn {
  readonly startedAt: number
}

/** One origin as one tenant calls it: its circuit, and the line before it. */
export class Endpoint {
  readonly origin: string
  readonly circuit: Circuit
  readonly #clock: Clock
  readonly #concurrency: number
  readonly #turns = new Set<Turn>()
  readonly #line = new Set<() => void>()
  #averageMs = 0

  constructor(origin: string, clock: Clock, settings: EndpointSettings) {
    this.origin = origin
    this.circuit = new Circuit(clock, settings)
    this.#clock = clock
    this.#concurrency = settings.concurrency
  }

  get isInUse(): boolean {
    return this.#turns.size > 0 || this.#line.size > 0
  }

  /**
   * Waits for a turn, and begins it. Where the line is too long to be worth a hand, it throws `Postponed`: the occurrence
   * goes back and comes again when its turn may have come.
   */
  enter(signal: AbortSignal, waitMsMax: number): Turn | Promise<Turn> {
    if (this.#turns.size < this.#concurrency) return this.#begin()
    return this.#standInLine(signal, Math.min(waitMsMax, LINE_MS_MAX))
  }

  leave(turn: Turn): void {
    this.#turns.delete(turn)
    const tookMs = this.#clock.monotonic() - turn.startedAt
    this.#averageMs += (tookMs - this.#averageMs) * SMOOTHING
    for (const next of this.#line) {
      next()
      return
    }
  }

  #begin(): Turn {
    const turn = { startedAt: this.#clock.monotonic() }
    this.#turns.add(turn)
    return turn
  }

  #standInLine(signal: AbortSignal, waitMsMax: number): Promise<Turn> {
    const waitMs = this.#waitMs()
    if (waitMs > waitMsMax || this.#line.size >= LINE_MAX) return Promise.reject(this.#postponed(waitMs))
    return new Promise((resolve, reject) => {
      const leaveLine = () => {
        cancelTimer()
        this.#line.delete(next)
      }
      const next = () => {
        leaveLine()
        // At once, so that nobody who comes in this moment finds the place free.
        resolve(this.#begin())
      }
      const cancelTimer = this.#clock.setTimer(waitMsMax, () => {
        leaveLine()
        reject(this.#postponed(this.#waitMs()))
      })
      this.#line.add(next)
      signal.addEventListener('abort', () => {
        leaveLine()
        reject(new Postponed('broken off in line', 0))
      })
    })
  }

  /** How long the line is, judged by how long calls have taken, and by the oldest that is still under way. */
  #waitMs(): number {
    let oldestMs = 0
    for (const { startedAt } of this.#turns) {
      oldestMs = this.#clock.monotonic() - startedAt
      break
    }
    return (Math.max(this.#averageMs, oldestMs / 2) * (this.#line.size + 1)) / this.#concurrency
  }

  #postponed(waitMs: number): Postponed {
    const boundedMs = Math.min(Math.max(waitMs, POSTPONED_MS_MIN), POSTPONED_MS_MAX)
    return new Postponed(`${this.origin} has ${this.#concurrency} calls under way`, boundedMs)
  }
}

/** Beyond this, endpoints are forgotten of which nothing is to be remembered; beyond the most, any that is not in use. */
const ENDPOINTS_KEPT = 1_000
const ENDPOINTS_MAX = 10_000

/** The endpoints that are called, each tenant's apart: what one does to an origin holds up no other. */
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
