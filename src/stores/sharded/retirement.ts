/** How long busy shards are kept from taking more, so that they can be handed on, and how long they are left alone after that. */
const RETIRE_MS = 500
const AGAIN_MS = 5_000
/** Each time in vain makes the next one wait so many times longer: handlers that hang would stop their shards' clocks for nothing. */
const VAIN_FACTOR = 4
const AGAIN_MS_MAX = 120_000

/** Shards that a process has over its share, and that it keeps from taking more: with nothing in flight they change hands. */
export class Retirement {
  #shards: ReadonlySet<number> = new Set()
  #since = Number.NEGATIVE_INFINITY
  #againMs = AGAIN_MS

  get isOn(): boolean {
    return this.#shards.size > 0
  }

  has(shard: number): boolean {
    return this.#shards.has(shard)
  }

  /** Nothing is over the share any more. */
  end(): void {
    this.#shards = new Set()
    this.handedOn()
  }

  /** Some have changed hands: the next time need not wait for longer. */
  handedOn(): void {
    this.#againMs = AGAIN_MS
  }

  /** These are busy and over the share at this moment of the monotonic clock: they retire, for a while, or are left alone. */
  meet(busy: ReadonlySet<number>, at: number): void {
    const sinceMs = at - this.#since
    if (busy.size === 0) this.#shards = busy
    else if (!this.isOn && sinceMs >= this.#againMs) {
      this.#shards = busy
      this.#since = at
    } else if (this.isOn && sinceMs >= RETIRE_MS) {
      this.#shards = new Set()
      this.#againMs = Math.min(this.#againMs * VAIN_FACTOR, AGAIN_MS_MAX)
    }
  }
}
