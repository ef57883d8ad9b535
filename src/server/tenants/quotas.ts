import type { Quotas } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { parseDuration } from '../../time/index.ts'

/** The bounds of a tenant as a whole, and of each of its owners. */
export interface QuotaPair {
  readonly tenant: Quotas
  readonly owner: Quotas
}

/** No bounds at all: what holds until somebody says otherwise. */
export const NO_QUOTAS: QuotaPair = { tenant: {}, owner: {} }

/** What is said of this tenant goes before what is said of all. */
export function merged(defaults: QuotaPair, own: Partial<QuotaPair>): QuotaPair {
  return { tenant: { ...defaults.tenant, ...own.tenant }, owner: { ...defaults.owner, ...own.owner } }
}

/** Refuses quotas that no alarm could ever keep, or whose durations are none. */
export function checkedQuotas(quotas: Quotas): Quotas {
  if (quotas.min_interval !== undefined && parseDuration(quotas.min_interval) <= 0)
    throw new WakefulError('invalid_request', 'min_interval must be longer than nothing')
  return quotas
}
