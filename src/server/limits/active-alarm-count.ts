/** A count is this old at most; what is let through here in between is added to it. */
const COUNT_MS = 1_000

/** How many active alarms somebody has: as the store has counted them, with those that were let through here since. */
export class ActiveAlarmCount {
  readonly #inStore: () => Promise<number>
  readonly #monotonic: () => number
  #counted = 0
  /** Let through, and perhaps not in the count yet. */
  #added = 0
  /** Those of them that are being written: the store may count them or not. */
  #underWay = 0
  #until = Number.NEGATIVE_INFINITY
  #counting: Promise<void> | null = null

  constructor(inStore: () => Promise<number>, monotonic: () => number) {
    this.#inStore = inStore
    this.#monotonic = monotonic
  }

  /** Never fewer than there are, but for what other processes have set within the second. */
  get current(): number {
    return this.#counted + this.#added
  }

  /** Has the store count where the count is old. */
  async refresh(): Promise<void> {
    if (this.#monotonic() >= this.#until) await this.#count()
  }

  /** Has the store count what is there now, and not what was there when somebody else asked. */
  async recount(): Promise<void> {
    await this.#counting
    await this.#count()
  }

  /** Adds what is let through, before it is written: whoever looks next must see it. */
  begin(count: number): void {
    this.#added += count
    this.#underWay += count
  }

  /** It was written, or it was not. */
  end(count: number, isWritten: boolean): void {
    this.#underWay -= count
    if (!isWritten) this.#added -= count
  }

  #count(): Promise<void> {
    this.#counting ??= this.#readStore().finally(() => {
      this.#counting = null
    })
    return this.#counting
  }

  async #readStore(): Promise<void> {
    const until = this.#monotonic() + COUNT_MS
    const written = this.#added - this.#underWay
    this.#counted = await this.#inStore()
    this.#added -= written
    this.#until = until
  }
}
