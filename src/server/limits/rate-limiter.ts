import type { Clock } from '../../time/index.ts'

const KEPT_MAX = 100_000

interface Level {
  tokens: number
  at: number
}

/** How many a bucket holds, and how fast it fills again. */
export interface Rate {
  readonly size: number
  readonly perMs: number
}

/** Token buckets by name: so many at once, refilled at a rate. Those that are full again are forgotten. */
export class RateLimiter {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #levels = new Map<string, Level>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** Takes so many; answers 0, or in how many milliseconds there will be enough, and takes none. */
  take(name: string, count: number, rate: Rate): number {
    const waitMs = this.waitMs(name, count, rate)
    if (waitMs === 0) this.spend(name, count, rate)
    return waitMs
  }

  /** In how many milliseconds there will be so many; takes none. */
  waitMs(name: string, count: number, rate: Rate): number {
    const tokens = this.#tokens(name, rate)
    // More than a bucket holds is let through from a full one, which is then in debt: it could never be had otherwise.
    const needed = Math.min(count, rate.size)
    return tokens >= needed ? 0 : Math.max(1, Math.ceil((needed - tokens) / rate.perMs))
  }

  /** Takes so many, whether they are there or not; fewer than none gives them back. */
  spend(name: string, count: number, rate: Rate): void {
    const tokens = Math.min(rate.size, this.#tokens(name, rate) - count)
    // The one that was longest untouched is given up where there are too many: it is most likely full.
    this.#levels.delete(name)
    this.#levels.set(name, { tokens, at: this.#clock.monotonic() })
    if (this.#levels.size > KEPT_MAX) this.#levels.delete(this.#levels.keys().next().value!)
  }

  #tokens(name: string, { size, perMs }: Rate): number {
    const level = this.#levels.get(name)
    if (level === undefined) return size
    return Math.min(size, level.tokens + (this.#clock.monotonic() - level.at) * perMs)
  }
}
