import type { Clock } from '../../time/index.ts'

/** How a store waits. A simulation passes its own. */
export interface Timers {
  /** Calls back at the end of this turn of the event loop. */
  soon(call: () => void): void
  /** Calls back after this many milliseconds, unless the returned function is called first. */
  later(ms: number, call: () => void): () => void
  /** Calls back every this many milliseconds, until the returned function is called. */
  every(ms: number, call: () => void): () => void
}

/** Node's timers. */
export const realTimers: Timers = {
  soon: (call) => void setImmediate(call),
  later(ms, call) {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  },
  every(ms, call) {
    const timer = setInterval(call, ms)
    return () => clearInterval(timer)
  },
}

/** Waits this many milliseconds without blocking other work. */
export function wait(timers: Timers, ms: number): Promise<void> {
  return new Promise((resolve) => void timers.later(ms, resolve))
}

/** The most that two clocks drift apart: both may be slewed by 500 ppm. */
const DRIFT = 0.0005
/** After this long without a sample, a new one is requested: while alarms fire, and by default. */
const FRESH_MS = 500
const STALE_MS = 5_000

/**
 * The database's clock, computed from the monotonic clock by an offset that every heartbeat measures. It uses the
 * early end of the measured interval, so that this process is never ahead of the database (promise: never-early). The
 * middle of the round trip was off by 2.7 ms.
 */
export class DatabaseClock implements Clock {
  readonly #host: Clock
  readonly #resample: () => void
  readonly #staleMs: number
  #offset = Number.NEGATIVE_INFINITY
  #sampledAt = Number.NEGATIVE_INFINITY

  /** `resample` is called when the time is read and the last sample is older than `staleMs`. */
  constructor(host: Clock, resample: () => void, staleMs = STALE_MS) {
    this.#host = host
    this.#resample = resample
    this.#staleMs = staleMs
  }

  now(): number {
    const at = this.#host.monotonic()
    if (at - this.#sampledAt > this.#staleMs) this.#resample()
    return this.nowAt(at)
  }

  /** The time at a moment of the monotonic clock. */
  nowAt(at: number): number {
    return Math.floor(at + this.#offsetAt(at))
  }

  /** Requests a sample if the last one is old. */
  refresh(): void {
    if (this.#host.monotonic() - this.#sampledAt > FRESH_MS) this.#resample()
  }

  monotonic(): number {
    return this.#host.monotonic()
  }

  setTimer(delayMs: number, fire: () => void): () => void {
    return this.#host.setTimer(delayMs, fire)
  }

  turn(): Promise<void> {
    return this.#host.turn()
  }

  /** How far the host's clock is ahead of the database's. It affects no alarm, but is reported. */
  get skewMs(): number {
    return this.#host.now() - this.now()
  }

  /** Adds a sample: what the database's clock read between two moments of the monotonic clock. */
  sample(databaseNow: number, sentAt: number, answeredAt: number): void {
    const low = databaseNow - answeredAt
    const high = databaseNow + 1 - sentAt
    const known = this.#offsetAt(answeredAt)
    // Below what was certain: the database's clock was set back, or this is another server.
    this.#offset = high < known ? low : Math.max(known, low)
    this.#sampledAt = answeredAt
  }

  /** The bounds of the offset widen with time by the possible drift. */
  #offsetAt(at: number): number {
    return this.#offset - Math.max(0, at - this.#sampledAt) * DRIFT
  }
}
