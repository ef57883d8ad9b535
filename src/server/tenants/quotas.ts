import { WakefulError } from '../../error.ts'
import { parseDuration } from '../../time/index.ts'

/** Bounds on what a tenant, or one owner, may use. What is absent has none. */
export interface Quotas {
  readonly active_alarms?: number | undefined
  readonly sets_per_second?: number | undefined
  readonly payload_bytes?: number | undefined
  readonly concurrent_deliveries?: number | undefined
  readonly wakes_per_hour?: number | undefined
  readonly min_interval?: string | undefined
}

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
