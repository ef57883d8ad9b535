import type { Quotas } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { type CachedDocument, CachedDocuments, type Operator } from '../../library/index.ts'
import type { Documents } from '../../stores/index.ts'
import { type Clock, durationOf } from '../../time/index.ts'
import type { Caller } from '../auth/index.ts'
import { type Rate, RateLimiter } from '../limits/index.ts'
import { ActiveAlarmCount } from './active-alarm-count.ts'
import {
  addsOne,
  assertPeriods,
  assertSizes,
  isWake,
  mayAdd,
  type QuotaRequest,
  RuleInspector,
} from './quota-use.ts'

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

  /** The quotas of this tenant. They may be half a second old. */
  async quotasOf(tenant: string): Promise<QuotaPair> {
    const kept = await this.#documents.get(tenant)
    if (kept === null) return this.#defaults
    const { quotas = {}, owner_quotas = {} } = kept.value
    return merged(this.#defaults, { tenant: quotas, owner: owner_quotas })
  }

  async get(tenant: string): Promise<TenantView> {
    return viewOf((await this.#documents.get(tenant)) ?? { name: tenant, value: {} })
  }

  async list(after: string, limit: number): Promise<TenantView[]> {
    return (await this.#documents.list(null, after, limit)).map(viewOf)
  }

  async putQuotas(tenant: string, quotas: Quotas, ownerQuotas: Quotas): Promise<TenantView> {
    return viewOf(
      await this.#documents.change(tenant, tenant, (before) => ({
        ...before,
        quotas,
        owner_quotas: ownerQuotas,
      })),
    )
  }
}

function viewOf({ name, value }: Pick<CachedDocument<TenantRecord>, 'name' | 'value'>): TenantView {
  const { quotas = {}, owner_quotas = {} } = value
  return { tenant: name, quotas, ownerQuotas: owner_quotas }
}

/** A tenant's own quotas override the defaults. */
function merged(defaults: QuotaPair, own: Partial<QuotaPair>): QuotaPair {
  return { tenant: { ...defaults.tenant, ...own.tenant }, owner: { ...defaults.owner, ...own.owner } }
}

/** Rejects quotas that no alarm could keep, and invalid durations. */
export function checkedQuotas(quotas: Quotas): Quotas {
  const { sets_per_second: perSecond } = quotas
  if (perSecond !== undefined && perSecond <= 0)
    throw new WakefulError('field.too_small', { min: 0, inclusive: false }, { field: 'setsPerSecond' })
  if (quotas.min_interval !== undefined && durationOf('minInterval', quotas.min_interval) <= 0)
    throw new WakefulError('field.too_small', { min: 0, inclusive: false }, { field: 'minInterval' })
  return quotas
}

/** What is read from the store about whole tenants and idempotency keys. */
export type QuotaStore = Pick<Operator, 'pendingOf' | 'isKnown'>

/** How much a call uses of each quota. */
interface Use {
  readonly sets: number
  readonly wakes: number
  readonly active: number
}

/** The quotas that are rates. */
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

  /** Does the work if the quotas allow all of it, else throws. Work that fails uses no alarms and no wakes. */
  async within<T>(caller: Caller, wanted: readonly QuotaRequest[], work: () => Promise<T>): Promise<T> {
    const levels = await this.#levelsOf(caller)
    if (levels.length === 0) return work()
    const fresh = await this.#withoutRepeats(caller, wanted)
    const rules = new RuleInspector(caller.alarms, this.#clock)
    for (const { quotas } of levels) {
      const { payload_bytes: bytesMax, min_interval: minInterval } = quotas
      if (bytesMax !== undefined) assertSizes(fresh, bytesMax)
      if (minInterval !== undefined) await assertPeriods(rules, fresh, minInterval)
    }
    const use = await this.#charge(levels, rules, caller, fresh)
    try {
      const done = await work()
      for (const { active } of levels) active.end(use.active, true)
      return done
    } catch (thrown) {
      for (const level of levels) {
        level.active.end(use.active, false)
        this.#spend(level, { sets: 0, wakes: -use.wakes })
      }
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

  /** Without sets whose idempotency key is known: they change nothing and use nothing. */
  async #withoutRepeats({ tenant, owner }: Caller, wanted: readonly QuotaRequest[]): Promise<QuotaRequest[]> {
    const isRepeat = await Promise.all(
      wanted.map((each) => {
        const key = each.does === 'set' ? each.options.idempotencyKey : undefined
        return typeof key === 'string' && this.#store.isKnown({ tenant, owner }, key)
      }),
    )
    return wanted.filter((_, at) => !isRepeat[at])
  }

  /** Charges every level, or throws and charges none. */
  async #charge(
    levels: readonly Level[],
    rules: RuleInspector,
    { alarms }: Caller,
    wanted: readonly QuotaRequest[],
  ): Promise<Use> {
    const sets = wanted.filter(({ does }) => does === 'set' || does === 'edit').length
    let wakes = 0
    if (levels.some(({ quotas }) => quotas.wakes_per_hour !== undefined))
      for (const each of wanted) if (await isWake(rules, each, this.#clock.now())) wakes += 1
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
    const use = { sets, wakes, active }
    for (const level of levels) this.#assertRates(level, use)
    const full = active === 0 ? undefined : bounded.find(isOver)
    if (full !== undefined) {
      const error = { scope: full.scope, max: full.quotas.active_alarms ?? null }
      throw new WakefulError('quota.active_alarms', error, { retryAfterMs: QUOTA_RETRY_MS })
    }
    for (const level of levels) {
      this.#spend(level, use)
      level.active.begin(active)
    }
    return use
  }

  #assertRates({ quotas, name, scope }: Level, use: Use): void {
    for (const { uses, quota, rateOf } of RATES) {
      const max = quotas[quota]
      if (max === undefined || use[uses] === 0) continue
      const retryAfterMs = this.#rates.waitMs(`${uses} ${name}`, use[uses], rateOf(max))
      const most = `${max} alarm${max === 1 ? '' : 's'}`
      if (retryAfterMs > 0) throw new WakefulError(`quota.${quota}`, { scope, max: most }, { retryAfterMs })
    }
  }

  #spend({ quotas, name }: Level, use: Omit<Use, 'active'>): void {
    for (const { uses, quota, rateOf } of RATES) {
      const max = quotas[quota]
      if (max !== undefined && use[uses] !== 0) this.#rates.spend(`${uses} ${name}`, use[uses], rateOf(max))
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
