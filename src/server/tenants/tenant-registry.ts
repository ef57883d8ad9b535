import type { Quotas } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { type CachedDocument, CachedDocuments } from '../../library/index.ts'
import type { Documents } from '../../stores/index.ts'
import { type Clock, parseDuration } from '../../time/index.ts'

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
  if (quotas.min_interval !== undefined && parseDuration(quotas.min_interval) <= 0)
    throw new WakefulError('field.too_small', { min: 0, inclusive: false }, { field: 'minInterval' })
  return quotas
}
