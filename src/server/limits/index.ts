/** Every mechanism that bounds what callers can use up: connections, requests, bytes and rates. docs/reference/limits.md lists them. */
export { ByteBudget } from './byte-budget.ts'
export { CallQueue } from './call-queue.ts'
export { ConnectionLimiter, type LiveConnection } from './connection-limiter.ts'
export { EventReadLimiter } from './event-read-limiter.ts'
export { bodyLimiter, HTTP_LIMITS, type HttpLimits, PipelineQueue, responseLimiter } from './http-limits.ts'
export { LogThrottle } from './log-throttle.ts'
export {
  checkedQuotas,
  NO_QUOTAS,
  QuotaGuard,
  type QuotaPair,
  TenantRegistry,
  type TenantView,
} from './quotas.ts'
export { type Rate, RateLimiter } from './rate-limiter.ts'
export { RequestQueue } from './request-queue.ts'
export { SendBuffer } from './send-buffer.ts'
