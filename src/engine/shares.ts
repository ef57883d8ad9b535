/** No tenant at all. */
export const NOBODY: ReadonlySet<string> = new Set()

/** A tenant with more than this part of the hands is crowding the others out, once no hand is free. */
const SHARE = 1 / 2
/** Hands beyond the concurrency, kept for those whom another tenant crowds out: one in four. */
const RESERVE = 1 / 4

/**
 * How many deliveries each tenant has under way. A tenant alone may use every hand; where its deliveries hang, or a
 * million of its alarms are due, the others still find hands.
 */
export class Shares {
  readonly #limit: number
  readonly reserve: number
  readonly #counts = new Map<string, number>()
  readonly #crowding = new Set<string>()

  constructor(concurrency: number) {
    this.#limit = concurrency * SHARE
    this.reserve = Math.floor(concurrency * RESERVE)
  }

  /** Tenants that have more than their share. */
  get crowding(): ReadonlySet<string> {
    return this.#crowding
  }

  add(tenant: string): void {
    this.#put(tenant, (this.#counts.get(tenant) ?? 0) + 1)
  }

  remove(tenant: string): void {
    this.#put(tenant, (this.#counts.get(tenant) ?? 0) - 1)
  }

  #put(tenant: string, count: number): void {
    if (count > 0) this.#counts.set(tenant, count)
    else this.#counts.delete(tenant)
    if (count > this.#limit) this.#crowding.add(tenant)
    else this.#crowding.delete(tenant)
  }
}
