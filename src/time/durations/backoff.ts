/** How retries are spaced. */
export interface BackoffOptions {
  baseMs: number
  capMs: number
}

/**
 * How long to wait after failed attempt number `attempt` (from 1): the base, doubled with each attempt, up to the cap.
 * Up to 10 % jitter is added, so that deliveries that failed together are not retried together.
 */
export function backoff(attempt: number, options: BackoffOptions, random01: number): number {
  // Bounded, because a base of 0 times 2 ** 1e9 (Infinity) would be NaN.
  const doublings = Math.min(Math.max(attempt - 1, 0), 60)
  const waitMs = Math.min(options.baseMs * 2 ** doublings, options.capMs)
  return Math.round(waitMs * (1 + 0.1 * random01))
}
