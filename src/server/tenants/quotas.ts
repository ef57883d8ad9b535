import type { Quotas } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { parseDuration } from '../../time/index.ts'

/** The quotas of a tenant as a whole, and of each of its owners. */
export interface QuotaPair {
  readonly tenant: Quotas
  readonly owner: Quotas
}

/** No quotas: the default. */
export const NO_QUOTAS: QuotaPair = { tenant: {}, owner: {} }

/** A tenant's own quotas override the defaults. */
export function merged(defaults: QuotaPair, own: Partial<QuotaPair>): QuotaPair {
  return { tenant: { ...defaults.tenant, ...own.tenant }, owner: { ...defaults.owner, ...own.owner } }
}

/** Rejects quotas that no alarm could keep, and invalid durations. */
export function checkedQuotas(quotas: Quotas): Quotas {
  if (quotas.min_interval !== undefined && parseDuration(quotas.min_interval) <= 0)
    throw new WakefulError('field.not_positive', {}, { field: 'minInterval' })
  return quotas
}
