/** How long a busy shard is kept from being claimed from, so that it becomes idle, and how long it is left alone after that. */
const RETIRE_MS = 500
const AGAIN_MS = 5_000
/** Each time in vain makes the next one wait longer: handlers that hang would stop their shards' clocks for nothing. */
const VAIN_FACTOR = 4
const AGAIN_MS_MAX = 120_000

/**
 * Shards that a process holds over its share and that have deliveries in flight. Nothing more is claimed from them for a
 * while: with nothing in flight they can be given up, and a shard under constant load would never be idle by itself.
 */
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
    this.gaveUp()
  }

  /** Some were given up: the next time need not wait for longer. */
  gaveUp(): void {
    this.#againMs = AGAIN_MS
  }

  /** These are busy and over the share at this moment of the monotonic clock: they retire for a while, or are left alone. */
  update(busy: ReadonlySet<number>, at: number): void {
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
