/** The quotas of tenants and owners, and which of them are paused. */
export { PauseControl } from './pause-control.ts'
export { QuotaGuard } from './quota-guard.ts'
export {
  checkedQuotas,
  NO_QUOTAS,
  type QuotaPair,
  TenantRegistry,
  type TenantView,
} from './tenant-registry.ts'
