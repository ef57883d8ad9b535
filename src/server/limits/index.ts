/** Every bound on what callers can use up: connections, requests, bytes and rates. docs/reference/limits.md lists them. */
export { ActiveAlarmCount } from './active-alarm-count.ts'
export { ByteBudget } from './byte-budget.ts'
export { ConnectionLimiter, type LiveConnection } from './connection-limiter.ts'
export { EventReadLimiter } from './event-read-limiter.ts'
export {
  type BodyBounds,
  BodyLimiter,
  limitedResponse,
  PipelineQueue,
  type ResponseBounds,
  ResponseLimiter,
} from './http-limits.ts'
export { LogThrottle } from './log-throttle.ts'
export { type Rate, RateLimiter } from './rate-limiter.ts'
export { RequestQueue } from './request-queue.ts'
export { SendBuffer } from './send-buffer.ts'
export { TimedOut, withTimeout } from './timeout.ts'
