import { type Kept, Shelf } from '../../library/index.ts'
import type { Documents } from '../../stores/index.ts'
import type { Clock } from '../../time/index.ts'
import { merged, type QuotaPair, type Quotas } from './quotas.ts'

/** What is kept of a tenant. Other parts keep fields of their own beside these. */
interface TenantRecord {
  readonly quotas?: Quotas
  readonly owner_quotas?: Quotas
  readonly paused?: boolean
  readonly catch_up_per_second?: number | null
  readonly webhook_secret?: { readonly number: number; readonly rotated_at: number | null }
}

/** A tenant's settings as they are shown. */
export interface TenantView {
  readonly tenant: string
  readonly quotas: Quotas
  readonly ownerQuotas: Quotas
  readonly paused: boolean
  readonly catchingUp: boolean
}

/** Tenants' settings: quotas and pauses. A tenant that has none needs no record. */
export class TenantBook {
  readonly #shelf: Shelf<TenantRecord>
  readonly #defaults: QuotaPair

  constructor(documents: Documents, clock: Clock, defaults: QuotaPair) {
    this.#shelf = new Shelf(documents, clock, 'tenant')
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

  async pause(tenant: string): Promise<TenantView> {
    return viewOf(
      await this.#shelf.change(tenant, tenant, (before) => ({
        ...before,
        paused: true,
        catch_up_per_second: null,
      })),
    )
  }

  /** What waited goes on, so many a second. */
  async resume(tenant: string, perSecond: number): Promise<TenantView> {
    return viewOf(
      await this.#shelf.change(tenant, tenant, (before) => ({
        ...before,
        paused: false,
        catch_up_per_second: before?.paused === true ? perSecond : (before?.catch_up_per_second ?? null),
      })),
    )
  }
}

function viewOf({ name, value }: Pick<Kept<TenantRecord>, 'name' | 'value'>): TenantView {
  const { quotas = {}, owner_quotas = {}, paused = false, catch_up_per_second = null } = value
  return {
    tenant: name,
    quotas,
    ownerQuotas: owner_quotas,
    paused,
    catchingUp: !paused && catch_up_per_second !== null,
  }
}
