import type { Clock } from '../../time/index.ts'

/** How far two clocks may run apart: both sides may be slewed by 500 ppm at most. */
const DRIFT = 0.0005
/** After this long without a sample, one is asked for: while alarms fire, and where it is not said. */
const FRESH_MS = 500
const STALE_MS = 5_000

/**
 * The database's clock, as this process knows it: read off its monotonic clock by an offset that is measured with every
 * heartbeat. Of what a measurement leaves open the early end is taken, so that this process never thinks it is later
 * than the database does (promise: never-early). The middle of the round trip was wrong by milliseconds.
 */
export class DatabaseClock implements Clock {
  readonly #host: Clock
  readonly #resample: () => void
  readonly #staleMs: number
  #offset = Number.NEGATIVE_INFINITY
  #sampledAt = Number.NEGATIVE_INFINITY

  /** `resample` is called when the time is asked for and the last sample is older than `staleMs`. */
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

  /** What it reads at a moment of the monotonic clock, by what is known now. */
  nowAt(at: number): number {
    return Math.floor(at + this.#offsetAt(at))
  }

  /** Asks for a sample where the last one is not fresh. */
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

  /** How far the host's own clock is ahead of the database's: a wrong one hurries and delays nothing, but is worth telling. */
  get skewMs(): number {
    return this.#host.now() - this.now()
  }

  /** Takes in what the database's clock read at some moment between these two of the monotonic clock. */
  sample(databaseNow: number, sentAt: number, answeredAt: number): void {
    const low = databaseNow - answeredAt
    const high = databaseNow + 1 - sentAt
    const known = this.#offsetAt(answeredAt)
    // Below what was known for certain: the database's clock was set back, or it is another database's by now.
    this.#offset = high < known ? low : Math.max(known, low)
    this.#sampledAt = answeredAt
  }

  /** What is known of the offset loses with time what the clocks may have run apart. */
  #offsetAt(at: number): number {
    return this.#offset - Math.max(0, at - this.#sampledAt) * DRIFT
  }
}
