import type { Scope } from '../alarm/index.ts'
import { type Claimed, type ClaimRequest, ownerKey } from '../stores/index.ts'
import type { Deferrals } from './deferrals.ts'
import type { DeliveryPool } from './delivery-pool.ts'
import type { EngineOptions } from './engine.ts'

/*
 * Admission decides, from what runs now, what the engine claims next: how many timers, which tenants and owners the scan
 * skips, and whether a timer that the scan found may start. It bounds three things.
 *
 * 1. The process. At most `concurrency` deliveries run at a time. Some work is claimed ahead, so that no slot waits for a
 *    round trip to the store: as much as is delivered in 50 ms, judged by how long deliveries have taken. What is claimed
 *    cannot be cancelled any more, so more would be worse than less.
 *
 * 2. A tenant's or an owner's delivery limit (`DeliveryLimits`). Those at their limit are skipped by the scan: otherwise a
 *    million alarms that are due and may not fire yet would be read on every claim. One claim can still find more of an
 *    owner than its limit allows, so each timer found is counted before it starts, and passed over beyond the limit. While
 *    that happens, claims are kept small, since most of what they read is passed over.
 *
 * 3. A tenant's share. A tenant alone may use every slot. But one whose deliveries hang, or which has a million alarms due,
 *    must not hold up the others. A tenant is crowding when no slot is free and it has more than half of them, or when most
 *    of the last batch was its own and more was due. While a tenant is crowding:
 *    - a quarter more slots exist, reserved for the other tenants;
 *    - a second claim, which skips the crowding tenants, fills them (`claimForOthers`). It is repeated when the earliest
 *      wake of the others comes, and every 20 ms, or every 500 ms where there are no others at all;
 *    - batches are no longer than `concurrency` if others are due within a second, because they wait for each batch to end.
 *
 * Every timer counts from its claim until its delivery has ended, queued or running, whichever claim it came from.
 */

/** How many deliveries may run at a time in this process; null means no limit but `concurrency`. */
export interface DeliveryLimits {
  /** The limits of a tenant over all its owners, and of one owner. Called for every occurrence: it must answer from memory. */
  deliveriesOf(
    tenant: string,
    owner: string,
  ): { readonly tenant: number | null; readonly owner: number | null }
}

/** What runs now. */
export type Load = Pick<DeliveryPool, 'active' | 'queued' | 'averageMs' | 'oldestMs'>

/** What admission is made of. */
export interface AdmissionOptions
  extends Pick<EngineOptions, 'concurrency' | 'batchMax' | 'limits' | 'clock'> {
  readonly load: () => Load
  readonly deferrals: Pick<Deferrals, 'tenant' | 'owner'>
}

/** One claim. */
export interface ClaimPlan {
  readonly limit: number
  /** The tenants and owners that the scan skips. */
  readonly skips: Pick<ClaimRequest, 'skipTenants' | 'skipOwners'>
  /** Whether it is for those whom a crowding tenant would hold up. */
  readonly isForOthers: boolean
  /** Whether this occurrence may start. The same occurrence gets the same answer: a store may have to start over. */
  admits(scope: Scope, occurrence: string): boolean
  /** Whether something was left due, because it is over a limit. */
  hasLeftDue: boolean
  /** Whether a limit kept it from tenants or owners. */
  isLimited: boolean
}

/** How much is claimed ahead, in time: enough to hide a round trip, little enough to stay cancellable. */
const AHEAD_MS = 50
/** The size of a claim while most of what is due belongs to those at their limits. */
const LIMITED_CLAIM_MAX = 32
/** A tenant with more than this part of the slots is crowding. */
const SHARE = 1 / 2
/** Slots beyond `concurrency`, reserved for the tenants that are not crowding. */
const RESERVE = 1 / 4
const AGAIN_MS_MIN = 20
const AGAIN_MS_MAX = 500
/** Others that are due within this time keep batches short. */
const SOON_MS = 1_000

const NONE: ReadonlySet<string> = new Set()

/** Counts what tenants and owners have in flight, and plans the claims. */
export class Admission {
  readonly #options: AdmissionOptions
  readonly #tenants = new Map<string, number>()
  /** By `ownerKey`; kept only where there are limits. */
  readonly #owners = new Map<string, Scope & { count: number }>()
  /** Tenants that have more than their share of the slots. */
  readonly #overShare = new Set<string>()
  /** The tenant that had most of the last batch, if more was due. Its deliveries may be too short to fill the slots. */
  #backlogged: ReadonlySet<string> = NONE
  #hasLeftDue = false
  /** Whether limits deferred something in the last claim for all. What waits then is not late. */
  isLimiting = false
  /** The earliest wake of tenants that are not crowding. */
  #othersWakeAt: number | null = null
  /** On the monotonic clock: when to look for others even if none is known to be due. */
  #againAt = 0
  #againMs = AGAIN_MS_MIN

  constructor(options: AdmissionOptions) {
    this.#options = options
  }

  /** Counts a claimed timer. */
  enter({ tenant, owner }: Scope): void {
    this.#count(tenant, 1)
    if (this.#options.limits === undefined) return
    const key = ownerKey({ tenant, owner })
    const known = this.#owners.get(key)
    if (known === undefined) this.#owners.set(key, { tenant, owner, count: 1 })
    else known.count += 1
  }

  /** Its delivery has ended. */
  leave(scope: Scope): void {
    this.#count(scope.tenant, -1)
    const key = this.#owners.size === 0 ? '' : ownerKey(scope)
    const known = this.#owners.get(key)
    if (known === undefined) return
    known.count -= 1
    if (known.count === 0) this.#owners.delete(key)
  }

  /** How many more timers may be claimed. */
  get free(): number {
    const { concurrency, batchMax, clock, load } = this.#options
    const next = this.othersWakeAt
    const isShort = next !== null && next <= clock.now() + SOON_MS
    const { active, queued, averageMs, oldestMs } = load()
    const eachMs = Math.max(averageMs ?? AHEAD_MS, oldestMs / 2)
    const ahead = Math.floor((concurrency * AHEAD_MS) / Math.max(eachMs, 0.01))
    const most = Math.min(isShort ? Math.min(batchMax, concurrency) : batchMax, Math.max(concurrency, ahead))
    return Math.max(0, most - active - queued)
  }

  /** When tenants that a crowding one would hold up are due next, on the wall clock; null where no tenant is crowding. */
  get othersWakeAt(): number | null {
    return this.isSharing ? this.#othersWakeAt : null
  }

  /** Whether a tenant is crowding, and some of the reserve is free. */
  get isSharing(): boolean {
    return this.#reserveFree > 0 && this.#crowding.size > 0
  }

  /** Something may be due earlier than was known. */
  hint(): void {
    this.#againAt = 0
    this.#againMs = AGAIN_MS_MIN
  }

  /** The next claim from all tenants; null where nothing may be claimed. */
  claimForAll(): ClaimPlan | null {
    const { free } = this
    const limit = this.#hasLeftDue ? Math.min(free, LIMITED_CLAIM_MAX) : free
    return limit === 0 ? null : this.#plan(limit, NONE, false)
  }

  /** The next claim for tenants that are not crowding; null while it is not time for one. */
  claimForOthers(): ClaimPlan | null {
    const { clock } = this.#options
    if (!this.isSharing) return null
    const isDue = this.#othersWakeAt !== null && clock.now() >= this.#othersWakeAt
    if (!isDue && clock.monotonic() < this.#againAt) return null
    return this.#plan(this.#reserveFree, this.#crowding, true)
  }

  /** Learns from what a claim brought. */
  claimed(plan: ClaimPlan, { timers, more, nextWakeAt }: Claimed): void {
    if (!plan.isForOthers) {
      this.#hasLeftDue = plan.hasLeftDue
      this.isLimiting = plan.isLimited
      this.#backlogged = more ? mostOf(timers.map(({ alarm }) => alarm.tenant)) : NONE
      return
    }
    const { clock } = this.#options
    const now = clock.now()
    // What is due and could not be claimed is looked for again a little later, not at once.
    const isStuck = timers.length === 0 && nextWakeAt !== null && nextWakeAt <= now
    this.#othersWakeAt = isStuck ? now + AGAIN_MS_MIN : nextWakeAt
    const isAlone = timers.length === 0 && nextWakeAt === null
    this.#againMs = isAlone ? Math.min(2 * this.#againMs, AGAIN_MS_MAX) : AGAIN_MS_MIN
    this.#againAt = clock.monotonic() + this.#againMs
  }

  get #crowding(): ReadonlySet<string> {
    const { active, queued } = this.#options.load()
    const over = active + queued < this.#options.concurrency ? NONE : this.#overShare
    return this.#backlogged.size === 0 ? over : over.union(this.#backlogged)
  }

  get #reserveFree(): number {
    const { concurrency, load } = this.#options
    return Math.max(0, concurrency + Math.floor(concurrency * RESERVE) - load().active)
  }

  #count(tenant: string, by: 1 | -1): void {
    const count = this.#inFlightOf(tenant) + by
    if (count > 0) this.#tenants.set(tenant, count)
    else this.#tenants.delete(tenant)
    if (count > this.#options.concurrency * SHARE) this.#overShare.add(tenant)
    else this.#overShare.delete(tenant)
  }

  #inFlightOf(tenant: string): number {
    return this.#tenants.get(tenant) ?? 0
  }

  #plan(limit: number, crowding: ReadonlySet<string>, isForOthers: boolean): ClaimPlan {
    const { deferrals, clock } = this.#options
    const now = clock.now()
    const tenants = new Set(crowding)
    const owners = new Set<string>()
    let isLimited = false
    for (const [key, scope] of this.#owners) {
      const limits = this.#limitsOf(scope)
      const isTenantLimited = this.#inFlightOf(scope.tenant) >= limits.tenant
      if (!isTenantLimited && scope.count < limits.owner) continue
      isLimited = true
      if (isTenantLimited) {
        tenants.add(scope.tenant)
        deferrals.tenant(scope.tenant, now)
      } else {
        owners.add(key)
        deferrals.owner(key, now)
      }
    }
    const skips = tenants.size + owners.size === 0 ? {} : { skipTenants: tenants, skipOwners: owners }
    const admitted = new Set<string>()
    // Tenants and owners together: an owner's key contains a NUL, and no tenant's name does.
    const added = new Map<string, number>()
    const more = (name: string) => added.get(name) ?? 0
    const admits = (scope: Scope, occurrence: string): boolean => {
      if (this.#options.limits === undefined || admitted.has(occurrence)) return true
      const { tenant } = scope
      const owner = ownerKey(scope)
      const limits = this.#limitsOf(scope)
      const isTenantFree = this.#inFlightOf(tenant) + more(tenant) < limits.tenant
      if (!isTenantFree || (this.#owners.get(owner)?.count ?? 0) + more(owner) >= limits.owner) {
        if (isTenantFree) deferrals.owner(owner, now)
        else deferrals.tenant(tenant, now)
        plan.hasLeftDue = true
        plan.isLimited = true
        return false
      }
      admitted.add(occurrence)
      for (const name of [tenant, owner]) added.set(name, more(name) + 1)
      return true
    }
    const plan = { limit, skips, isForOthers, admits, hasLeftDue: false, isLimited }
    return plan
  }

  /** A limit is at least one: to stop a tenant, pause it. */
  #limitsOf({ tenant, owner }: Scope): { tenant: number; owner: number } {
    const limits = this.#options.limits?.deliveriesOf(tenant, owner)
    const atLeastOne = (limit: number | null = null) =>
      limit === null ? Number.POSITIVE_INFINITY : Math.max(1, limit)
    return { tenant: atLeastOne(limits?.tenant), owner: atLeastOne(limits?.owner) }
  }
}

/** The tenant that more than half of these belong to. */
function mostOf(tenants: readonly string[]): ReadonlySet<string> {
  const counts = new Map<string, number>()
  for (const tenant of tenants) counts.set(tenant, (counts.get(tenant) ?? 0) + 1)
  for (const [tenant, count] of counts) if (2 * count > tenants.length) return new Set([tenant])
  return NONE
}
