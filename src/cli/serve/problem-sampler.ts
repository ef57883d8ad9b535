const PERIOD_MS = 1_000
/** Lines about the alarms of one tenant, and of all tenants together, in one period. */
const TENANT_LINES_MAX = 10
const LINES_MAX = 100
/** Beyond this many tenants with lines left out, the count of the first is forgotten. */
const TENANTS_MAX = 10_000

/** Keeps failing alarms from filling the log: of each tenant some lines are logged, and the others are counted. */
export class ProblemSampler {
  readonly #lines = new Map<string, number>()
  readonly #leftOut = new Map<string, number>()
  #total = 0
  #startedAt = 0

  /** How many lines of this tenant were left out since its last one; null if this one is left out too. */
  next(tenant: string, now: number): number | null {
    // The absolute difference: a clock that was set back must not leave out lines for long.
    if (Math.abs(now - this.#startedAt) >= PERIOD_MS) {
      this.#lines.clear()
      this.#total = 0
      this.#startedAt = now
    }
    const lines = this.#lines.get(tenant) ?? 0
    const leftOut = this.#leftOut.get(tenant) ?? 0
    this.#leftOut.delete(tenant)
    if (lines < TENANT_LINES_MAX && this.#total < LINES_MAX) {
      this.#lines.set(tenant, lines + 1)
      this.#total += 1
      return leftOut
    }
    if (this.#leftOut.size >= TENANTS_MAX) this.#leftOut.delete(this.#leftOut.keys().next().value!)
    this.#leftOut.set(tenant, leftOut + 1)
    return null
  }
}
