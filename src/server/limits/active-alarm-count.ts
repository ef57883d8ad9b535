/** How old a count may be. Alarms that were set here since are added to it. */
const COUNT_MS_MAX = 1_000

/** How many active alarms a tenant or owner has: the store's count, plus those that were set here since. */
export class ActiveAlarmCount {
  readonly #inStore: () => Promise<number>
  readonly #monotonic: () => number
  #counted = 0
  /** Admitted, and perhaps not in the count yet. */
  #added = 0
  /** Those of them that are being written: the store may count them or not. */
  #writing = 0
  #until = Number.NEGATIVE_INFINITY
  #counting: Promise<void> | null = null

  constructor(inStore: () => Promise<number>, monotonic: () => number) {
    this.#inStore = inStore
    this.#monotonic = monotonic
  }

  /** Never too few, except for what other processes have set within the last second. */
  get current(): number {
    return this.#counted + this.#added
  }

  /** Counts in the store if the count is old. */
  async refresh(): Promise<void> {
    if (this.#monotonic() >= this.#until) await this.#count()
  }

  /** Counts in the store now. A count that another call has started may be from before. */
  async recount(): Promise<void> {
    await this.#counting
    await this.#count()
  }

  /** Adds alarms before they are written: the next caller must see them. */
  begin(count: number): void {
    this.#added += count
    this.#writing += count
  }

  /** They were written, or they were not. */
  end(count: number, isWritten: boolean): void {
    this.#writing -= count
    if (!isWritten) this.#added -= count
  }

  #count(): Promise<void> {
    this.#counting ??= this.#readStore().finally(() => {
      this.#counting = null
    })
    return this.#counting
  }

  async #readStore(): Promise<void> {
    const until = this.#monotonic() + COUNT_MS_MAX
    const written = this.#added - this.#writing
    this.#counted = await this.#inStore()
    this.#added -= written
    this.#until = until
  }
}
