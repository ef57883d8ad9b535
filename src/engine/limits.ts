import type { Scope } from '../alarm/index.ts'
import { ownerKey } from '../stores/index.ts'

/** How many deliveries may be under way at once in a process; null is no limit but that of its hands. */
export interface DeliveryLimits {
  /** Of a tenant over all its owners, and of one owner. Asked for every occurrence: it must answer from memory. */
  deliveriesOf(
    tenant: string,
    owner: string,
  ): { readonly tenant: number | null; readonly owner: number | null }
}

/** Those who have as much under way as they may: nothing more of theirs is taken. */
export interface Full {
  readonly tenants: ReadonlySet<string>
  /** Each as `ownerKey` names it. */
  readonly owners: ReadonlySet<string>
}

interface Count extends Scope {
  count: number
}

/** Counts what tenants and owners have under way, and says who may have more. */
export class Throttle {
  readonly #limits: DeliveryLimits
  readonly #tenants = new Map<string, number>()
  readonly #owners = new Map<string, Count>()

  constructor(limits: DeliveryLimits) {
    this.#limits = limits
  }

  add({ tenant, owner }: Scope): void {
    this.#tenants.set(tenant, this.ofTenant(tenant) + 1)
    const key = ownerKey({ tenant, owner })
    const known = this.#owners.get(key)
    if (known === undefined) this.#owners.set(key, { tenant, owner, count: 1 })
    else known.count += 1
  }

  remove({ tenant, owner }: Scope): void {
    const left = this.ofTenant(tenant) - 1
    if (left > 0) this.#tenants.set(tenant, left)
    else this.#tenants.delete(tenant)
    const key = ownerKey({ tenant, owner })
    const known = this.#owners.get(key)
    if (known === undefined) return
    known.count -= 1
    if (known.count === 0) this.#owners.delete(key)
  }

  ofTenant(tenant: string): number {
    return this.#tenants.get(tenant) ?? 0
  }

  ofOwner(key: string): number {
    return this.#owners.get(key)?.count ?? 0
  }

  /** Nobody may have less than one: who is to have none is paused, and held. */
  limitsOf({ tenant, owner }: Scope): { tenant: number; owner: number } {
    const limits = this.#limits.deliveriesOf(tenant, owner)
    return { tenant: atLeastOne(limits.tenant), owner: atLeastOne(limits.owner) }
  }

  /** Who is at the limit; null where nobody is. Only those who have something under way can be. */
  get full(): Full | null {
    const tenants = new Set<string>()
    const owners = new Set<string>()
    for (const [key, scope] of this.#owners) {
      const limits = this.limitsOf(scope)
      if (this.ofTenant(scope.tenant) >= limits.tenant) tenants.add(scope.tenant)
      else if (scope.count >= limits.owner) owners.add(key)
    }
    return tenants.size + owners.size === 0 ? null : { tenants, owners }
  }
}

/** What one take may bring: what is under way, and what it has brought by now. */
export class Grants {
  readonly #throttle: Throttle
  readonly #granted = new Set<string>()
  readonly #counts = new Map<string, number>()
  /** Whether something due had to be passed. */
  hasRefused = false

  constructor(throttle: Throttle) {
    this.#throttle = throttle
  }

  /** Whether this occurrence may be taken too. Who asks again gets the same answer: a store may have to start over. */
  grant(scope: Scope, occurrence: string): boolean {
    if (this.#granted.has(occurrence)) return true
    const { tenant } = scope
    const owner = ownerKey(scope)
    const limits = this.#throttle.limitsOf(scope)
    // No owner's key is a tenant's: it has a NUL in it.
    const more = (name: string) => this.#counts.get(name) ?? 0
    const isFree =
      this.#throttle.ofTenant(tenant) + more(tenant) < limits.tenant &&
      this.#throttle.ofOwner(owner) + more(owner) < limits.owner
    this.hasRefused ||= !isFree
    if (!isFree) return false
    this.#granted.add(occurrence)
    for (const name of [tenant, owner]) this.#counts.set(name, more(name) + 1)
    return true
  }
}

function atLeastOne(limit: number | null): number {
  return limit === null ? Number.POSITIVE_INFINITY : Math.max(1, limit)
}
