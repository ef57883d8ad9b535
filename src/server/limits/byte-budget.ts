/**
 * Bytes kept in memory for many connections together. A connection that holds none is not kept. Beyond the maximum, the
 * connections that have held theirs longest are dropped, so that a few slow ones cannot use up the memory of all.
 */
export class ByteBudget<Holder> {
  readonly #bytesMax: number
  readonly #drop: (holder: Holder) => void
  /** In the order in which they began to hold anything. */
  readonly #bytes = new Map<Holder, number>()
  #total = 0

  constructor(bytesMax: number, drop: (holder: Holder) => void) {
    this.#bytesMax = bytesMax
    this.#drop = drop
  }

  get isExceeded(): boolean {
    return this.#total > this.#bytesMax
  }

  has(holder: Holder): boolean {
    return this.#bytes.has(holder)
  }

  /** Records what a connection holds now. */
  count(holder: Holder, bytes: number): void {
    this.#total += bytes - (this.#bytes.get(holder) ?? 0)
    if (bytes > 0) this.#bytes.set(holder, bytes)
    else this.#bytes.delete(holder)
  }

  recount(bytesOf: (holder: Holder) => number): void {
    for (const holder of this.#bytes.keys()) this.count(holder, bytesOf(holder))
  }

  /** Drops the oldest until the rest fits. */
  enforce(): void {
    for (const oldest of this.#bytes.keys()) {
      if (!this.isExceeded) return
      this.count(oldest, 0)
      this.#drop(oldest)
    }
  }
}
