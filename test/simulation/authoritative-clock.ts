/** How far the database's clock was ahead of the truth, from a moment of true time on. */
interface Reading {
  readonly from: number
  readonly aheadMs: number
}

/**
 * The database's own clock, by which alarms fire. It may be set forward and back, and after a failover it is another
 * server's. Nobody can know of that before they read it the next time.
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

  /** Sets it forward, or back. */
  step(ms: number): void {
    const { aheadMs } = this.#readings.at(-1)!
    this.#readings.push({ from: this.#trueNow(), aheadMs: aheadMs + ms })
  }

  /** What it would read now by anybody who last read it so long ago at most: the latest of that. */
  latest(withinMs: number): number {
    const since = this.#trueNow() - withinMs
    // A reading was in force until the next one.
    const inForce = this.#readings.filter((_, i) => (this.#readings[i + 1]?.from ?? Infinity) >= since)
    return Math.floor(this.#trueNow() + Math.max(...inForce.map(({ aheadMs }) => aheadMs)))
  }
}
