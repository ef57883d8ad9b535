/** The offset of the database's clock from true time, from a moment on. */
interface Reading {
  readonly from: number
  readonly aheadMs: number
}

/**
 * The database's clock, by which alarms fire. It may be set forward or back, and after a failover it is another
 * server's. A process learns of that at its next reading.
 */
export class AuthoritativeClock {
  readonly #trueNow: () => number
  #readings: Reading[] = [{ from: Number.NEGATIVE_INFINITY, aheadMs: 0 }]

  constructor(trueNow: () => number) {
    this.#trueNow = trueNow
  }

  now(): number {
    return Math.floor(this.#trueNow() + this.#readings.at(-1)!.aheadMs)
  }

  /** Sets the clock forward or back. */
  step(ms: number): void {
    const { aheadMs } = this.#readings.at(-1)!
    this.#readings.push({ from: this.#trueNow(), aheadMs: aheadMs + ms })
  }

  /** The latest time that a process which read the clock within `withinMs` may assume now. */
  latest(withinMs: number): number {
    const since = this.#trueNow() - withinMs
    // A reading applied until the next one.
    const inForce = this.#readings.filter((_, i) => (this.#readings[i + 1]?.from ?? Infinity) >= since)
    return Math.floor(this.#trueNow() + Math.max(...inForce.map(({ aheadMs }) => aheadMs)))
  }
}
