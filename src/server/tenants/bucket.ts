import type { Clock } from '../../time/index.ts'

const KEPT_MAX = 100_000

interface Level {
  tokens: number
  at: number
}

/** Token buckets by name: so many at once, refilled at a rate. Those that are full again are forgotten. */
export class Buckets {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #levels = new Map<string, Level>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** Takes so many; answers 0, or in how many milliseconds there will be enough, and takes none. */
  take(name: string, count: number, rate: { readonly size: number; readonly perMs: number }): number {
    const now = this.#clock.monotonic()
    const level = this.#levels.get(name) ?? { tokens: rate.size, at: now }
    const tokens = Math.min(rate.size, level.tokens + (now - level.at) * rate.perMs)
    // More than a bucket holds is let through from a full one, which is then in debt: it could never be had otherwise.
    if (tokens < Math.min(count, rate.size)) {
      this.#keep(name, { tokens, at: now })
      return Math.max(1, Math.ceil((Math.min(count, rate.size) - tokens) / rate.perMs))
    }
    this.#keep(name, { tokens: tokens - count, at: now })
    return 0
  }

  /** The one that was longest untouched is given up where there are too many: it is most likely full. */
  #keep(name: string, level: Level): void {
    this.#levels.delete(name)
    this.#levels.set(name, level)
    if (this.#levels.size > KEPT_MAX) this.#levels.delete(this.#levels.keys().next().value!)
  }
}
