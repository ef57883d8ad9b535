import type { Quotas } from '../../contracts/index.ts'
import { type CachedDocument, CachedDocuments } from '../../library/index.ts'
import type { Documents } from '../../stores/index.ts'
import type { Clock } from '../../time/index.ts'
import { merged, type QuotaPair } from './quotas.ts'

/** What is kept of a tenant. Other parts keep fields of their own beside these. */
interface TenantRecord {
  readonly quotas?: Quotas
  readonly owner_quotas?: Quotas
}

/** A tenant's settings as they are shown. */
export interface TenantView {
  readonly tenant: string
  readonly quotas: Quotas
  readonly ownerQuotas: Quotas
}

/** Tenants' settings. A tenant that has none needs no record. */
export class TenantRegistry {
  readonly #shelf: CachedDocuments<TenantRecord>
  readonly #defaults: QuotaPair

  constructor(documents: Documents, clock: Clock, defaults: QuotaPair) {
    this.#shelf = new CachedDocuments(documents, clock, 'tenant')
    this.#defaults = defaults
  }

  /** What holds for this tenant, perhaps as it was half a second ago. */
  async quotasOf(tenant: string): Promise<QuotaPair> {
    const kept = await this.#shelf.get(tenant)
    if (kept === null) return this.#defaults
    const { quotas = {}, owner_quotas = {} } = kept.value
    return merged(this.#defaults, { tenant: quotas, owner: owner_quotas })
  }

  async get(tenant: string): Promise<TenantView> {
    return viewOf((await this.#shelf.get(tenant)) ?? { name: tenant, value: {} })
  }

  async list(after: string, limit: number): Promise<TenantView[]> {
    return (await this.#shelf.list(null, after, limit)).map(viewOf)
  }

  async putQuotas(tenant: string, quotas: Quotas, ownerQuotas: Quotas): Promise<TenantView> {
    return viewOf(
      await this.#shelf.change(tenant, tenant, (before) => ({
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
