import type { Clock } from '../../time/index.ts'

const BUCKETS_MAX = 100_000

interface Bucket {
  tokens: number
  at: number
}

/** How many are allowed at once, and how fast they become available again. */
export interface Rate {
  readonly size: number
  readonly perMs: number
}

/** Token buckets by name. */
export class RateLimiter {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #buckets = new Map<string, Bucket>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** Takes tokens and returns 0, or takes none and returns in how many milliseconds there will be enough. */
  consume(name: string, count: number, rate: Rate): number {
    const waitMs = this.waitMs(name, count, rate)
    if (waitMs === 0) this.spend(name, count, rate)
    return waitMs
  }

  /** In how many milliseconds there will be enough tokens; takes none. */
  waitMs(name: string, count: number, rate: Rate): number {
    const tokens = this.#tokens(name, rate)
    // More than a bucket holds is allowed when it is full, and leaves it in debt: it could never be allowed otherwise.
    const needed = Math.min(count, rate.size)
    return tokens >= needed ? 0 : Math.max(1, Math.ceil((needed - tokens) / rate.perMs))
  }

  /** Takes tokens whether they are there or not; a negative count returns them. */
  spend(name: string, count: number, rate: Rate): void {
    const tokens = Math.min(rate.size, this.#tokens(name, rate) - count)
    // With too many buckets, the least recently used one is dropped: it is most likely full.
    this.#buckets.delete(name)
    this.#buckets.set(name, { tokens, at: this.#clock.monotonic() })
    if (this.#buckets.size > BUCKETS_MAX) this.#buckets.delete(this.#buckets.keys().next().value!)
  }

  #tokens(name: string, { size, perMs }: Rate): number {
    const bucket = this.#buckets.get(name)
    if (bucket === undefined) return size
    return Math.min(size, bucket.tokens + (this.#clock.monotonic() - bucket.at) * perMs)
  }
}
