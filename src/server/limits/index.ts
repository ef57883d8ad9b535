/** Every bound on what callers can use up: connections, requests, bytes and rates. docs/reference/limits.md lists them. */
export { ByteBudget } from './byte-budget.ts'
export { ConnectionLimiter, type LiveConnection } from './connection-limiter.ts'
export { type Rate, RateLimiter } from './rate-limiter.ts'
export { EventReadLimiter, RequestQueue } from './request-queue.ts'
export { SendBuffer } from './send-buffer.ts'
