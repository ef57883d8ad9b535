/** The quotas of tenants and owners, and which of them are paused. */
export { PauseControl } from './pause-control.ts'
export {
  checkedQuotas,
  NO_QUOTAS,
  QuotaGuard,
  type QuotaPair,
  TenantRegistry,
  type TenantView,
} from './quotas.ts'
