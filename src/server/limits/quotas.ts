import type { Quotas } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import {
  type Admit,
  type Alarms,
  type CachedDocument,
  CachedDocuments,
  type Operator,
} from '../../library/index.ts'
import type { Documents } from '../../stores/index.ts'
import { type Clock, durationOf } from '../../time/index.ts'
import type { Caller } from '../auth/index.ts'
import { ActiveAlarmCount } from './active-alarm-count.ts'
import {
  addsOne,
  assertPeriods,
  assertSizes,
  firesNow,
  isSoon,
  type JudgedRule,
  mayAdd,
  type QuotaRequest,
  storesRule,
} from './quota-use.ts'
import { type Rate, RateLimiter } from './rate-limiter.ts'

const HOUR_MS = 3_600_000
const COUNTS_MAX = 10_000
const QUOTA_RETRY_MS = 60_000

/** The quotas of a tenant as a whole, and of each of its owners. */
export interface QuotaPair {
  readonly tenant: Quotas
  readonly owner: Quotas
}

/** No quotas: the default. */
export const NO_QUOTAS: QuotaPair = { tenant: {}, owner: {} }

/** What is stored of a tenant, possibly with fields of other modules. */
interface TenantRecord {
  readonly quotas?: Quotas
  readonly owner_quotas?: Quotas
}

/** A tenant's settings. */
export interface TenantView {
  readonly tenant: string
  readonly quotas: Quotas
  readonly ownerQuotas: Quotas
}

/** Tenants' settings. A tenant without settings has no record. */
export class TenantRegistry {
  readonly #documents: CachedDocuments<TenantRecord>
  readonly #defaults: QuotaPair

  constructor(documents: Documents, clock: Clock, defaults: QuotaPair) {
    this.#documents = new CachedDocuments(documents, clock, 'tenant')
    this.#defaults = defaults
  }

  /** The quotas of this tenant, which override the defaults. They may be half a second old. */
  async quotasOf(tenant: string): Promise<QuotaPair> {
    const { quotas, ownerQuotas } = await this.get(tenant)
    const defaults = this.#defaults
    return { tenant: { ...defaults.tenant, ...quotas }, owner: { ...defaults.owner, ...ownerQuotas } }
  }

  async get(tenant: string): Promise<TenantView> {
    return viewOf((await this.#documents.get(tenant)) ?? { name: tenant, value: {} })
  }

  async list(after: string, limit: number): Promise<TenantView[]> {
    return (await this.#documents.list(null, after, limit)).map(viewOf)
  }

  async putQuotas(tenant: string, quotas: Quotas, ownerQuotas: Quotas): Promise<TenantView> {
    const change = (before: TenantRecord | null) => ({ ...before, quotas, owner_quotas: ownerQuotas })
    return viewOf(await this.#documents.change(tenant, tenant, change))
  }
}

function viewOf({ name, value }: Pick<CachedDocument<TenantRecord>, 'name' | 'value'>): TenantView {
  const { quotas = {}, owner_quotas = {} } = value
  return { tenant: name, quotas, ownerQuotas: owner_quotas }
}

/** Rejects quotas that no alarm could keep, and invalid durations. */
export function checkedQuotas(quotas: Quotas): Quotas {
  if (quotas.sets_per_second !== undefined && quotas.sets_per_second <= 0)
    throw new WakefulError('field.too_small', {}, { field: 'setsPerSecond' })
  if (quotas.min_interval !== undefined && durationOf('minInterval', quotas.min_interval) <= 0)
    throw new WakefulError('field.too_small', {}, { field: 'minInterval' })
  return quotas
}

/** What quotas need of the library besides a caller's alarms. */
export type QuotaStore = Pick<Operator, 'pendingOf' | 'isKnown' | 'admittedAlarms'>

interface Use {
  readonly sets: number
  wakes: number
  readonly active: number
}

/** How much a call uses of the quotas that are rates. */
type Rates = Readonly<Omit<Use, 'active'>>

const RATES = [
  {
    uses: 'sets',
    quota: 'sets_per_second',
    rateOf: (perSecond: number): Rate => ({ size: Math.max(1, perSecond), perMs: perSecond / 1000 }),
  },
  {
    uses: 'wakes',
    quota: 'wakes_per_hour',
    rateOf: (perHour: number): Rate => ({ size: perHour, perMs: perHour / HOUR_MS }),
  },
] as const

/** The quotas of an owner or of a tenant, and what they are counted with. */
interface Level {
  readonly quotas: Quotas
  readonly name: string
  /** As error messages name it: `you` or `your tenant`. */
  readonly scope: string
  readonly active: ActiveAlarmCount
}

/**
 * Enforces the quotas of tenants and owners. Without quotas it costs one read of a cached document. Each process counts
 * for itself: rates are per process, and what others have set within the last second is not counted.
 */
export class QuotaGuard {
  readonly #tenants: TenantRegistry
  readonly #clock: Clock
  readonly #store: QuotaStore
  readonly #rates: RateLimiter
  readonly #counts = new Map<string, ActiveAlarmCount>()

  constructor(tenants: TenantRegistry, clock: Clock, store: QuotaStore) {
    this.#tenants = tenants
    this.#clock = clock
    this.#store = store
    this.#rates = new RateLimiter(clock)
  }

  /**
   * Does the work if the quotas allow all of it, else throws. Work that fails uses no alarms and no wakes. Rules are judged
   * while the work is done, when `when` has been resolved: resolved a second time, at a later instant, it could be another rule.
   */
  async within<T>(
    caller: Caller,
    wanted: readonly QuotaRequest[],
    work: (alarms: Alarms) => Promise<T>,
  ): Promise<T> {
    const { tenant, owner } = caller
    const levels = await this.#levelsOf(caller)
    if (levels.length === 0) return work(caller.alarms)
    const isRepeat = await this.#areRepeats(caller, wanted)
    const fresh = wanted.filter((_, at) => !isRepeat[at])
    for (const { quotas } of levels)
      if (quotas.payload_bytes !== undefined) assertSizes(fresh, quotas.payload_bytes)
    const use = await this.#charge(levels, caller, fresh)
    const admit: Admit = (rules, now) => {
      const judged = rules.flatMap((rule, at) => (isRepeat[at] ? [] : [{ rule, wanted: wanted[at]! }]))
      this.#chargeRules(levels, use, judged, now)
    }
    try {
      const alarms = wanted.some(storesRule)
        ? this.#store.admittedAlarms({ tenant, owner }, admit)
        : caller.alarms
      const done = await work(alarms)
      for (const { active } of levels) active.end(use.active, true)
      return done
    } catch (thrown) {
      for (const { active } of levels) active.end(use.active, false)
      this.#spend(levels, { sets: 0, wakes: -use.wakes })
      throw thrown
    }
  }

  /** Owners first: an owner beyond its own quota uses nothing of its tenant's. */
  async #levelsOf({ tenant, owner, alarms }: Caller): Promise<Level[]> {
    const quotas = await this.#tenants.quotasOf(tenant)
    const level = (scope: string, of: Quotas, name: string, inStore: () => Promise<number>) =>
      Object.keys(of).length === 0 ? [] : [{ quotas: of, name, scope, active: this.#activeOf(name, inStore) }]
    return [
      ...level(
        'you',
        quotas.owner,
        JSON.stringify([tenant, owner]),
        async () => (await alarms.stats()).pending,
      ),
      ...level('your tenant', quotas.tenant, JSON.stringify([tenant]), () => this.#store.pendingOf(tenant)),
    ]
  }

  /** Which are sets whose idempotency key is known: they change nothing and use nothing. */
  #areRepeats({ tenant, owner }: Caller, wanted: readonly QuotaRequest[]): Promise<boolean[]> {
    return Promise.all(
      wanted.map(async (each) => {
        const key = each.does === 'set' ? each.options.idempotencyKey : undefined
        return typeof key === 'string' && (await this.#store.isKnown({ tenant, owner }, key))
      }),
    )
  }

  /** Charges every level with all but the wakes of rules, or throws and charges none. */
  async #charge(levels: readonly Level[], { alarms }: Caller, wanted: readonly QuotaRequest[]): Promise<Use> {
    const sets = wanted.filter(({ does }) => does === 'set' || does === 'edit').length
    let active = wanted.filter(mayAdd).length
    const bounded = active === 0 ? [] : levels.filter(({ quotas }) => quotas.active_alarms !== undefined)
    const isOver = ({ quotas, active: count }: Level) => count.current + active > quotas.active_alarms!
    await Promise.all(bounded.map((level) => level.active.refresh()))
    if (bounded.some(isOver)) {
      // At the limit, existing alarms may still be set again, and no call is rejected because of an old count.
      const adds = await Promise.all(wanted.map((each) => addsOne(alarms, each)))
      active = adds.filter(Boolean).length
      await Promise.all(bounded.map((level) => level.active.recount()))
    }
    // Nothing is awaited from here on: no other call can use what was found free.
    const use = { sets, wakes: wanted.filter(firesNow).length, active }
    this.#assertRates(levels, use)
    const full = active === 0 ? undefined : bounded.find(isOver)
    if (full !== undefined) {
      const error = { scope: full.scope, max: full.quotas.active_alarms ?? null }
      throw new WakefulError('quota.active_alarms', error, { retryAfterMs: QUOTA_RETRY_MS })
    }
    this.#spend(levels, use)
    for (const level of levels) level.active.begin(active)
    return use
  }

  /** Charges every level with the wakes of rules, or throws and gives back the sets. */
  #chargeRules(levels: readonly Level[], use: Use, judged: readonly JudgedRule[], now: number): void {
    // The rules of an earlier attempt were not stored.
    this.#spend(levels, { sets: 0, wakes: -use.wakes })
    use.wakes = 0
    try {
      for (const { quotas } of levels)
        if (quotas.min_interval !== undefined) assertPeriods(judged, quotas.min_interval)
      const wakes = judged.filter((each) => isSoon(each, now)).length
      this.#assertRates(levels, { sets: 0, wakes })
      this.#spend(levels, { sets: 0, wakes })
      use.wakes = wakes
    } catch (thrown) {
      this.#spend(levels, { sets: -use.sets, wakes: 0 })
      throw thrown
    }
  }

  #assertRates(levels: readonly Level[], use: Rates): void {
    for (const { quotas, name, scope } of levels) {
      for (const { uses, quota, rateOf } of RATES) {
        const max = quotas[quota]
        if (max === undefined || use[uses] === 0) continue
        const retryAfterMs = this.#rates.waitMs(`${uses} ${name}`, use[uses], rateOf(max))
        const most = `${max} alarm${max === 1 ? '' : 's'}`
        if (retryAfterMs > 0) throw new WakefulError(`quota.${quota}`, { scope, max: most }, { retryAfterMs })
      }
    }
  }

  #spend(levels: readonly Level[], use: Rates): void {
    for (const { quotas, name } of levels) {
      for (const { uses, quota, rateOf } of RATES) {
        const max = quotas[quota]
        if (max !== undefined && use[uses] !== 0) this.#rates.spend(`${uses} ${name}`, use[uses], rateOf(max))
      }
    }
  }

  #activeOf(name: string, inStore: () => Promise<number>): ActiveAlarmCount {
    const found = this.#counts.get(name) ?? new ActiveAlarmCount(inStore, () => this.#clock.monotonic())
    this.#counts.delete(name)
    this.#counts.set(name, found)
    if (this.#counts.size > COUNTS_MAX) this.#counts.delete(this.#counts.keys().next().value!)
    return found
  }
}
