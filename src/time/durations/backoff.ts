/** How retries are spaced. */
export interface BackoffOptions {
  baseMs: number
  capMs: number
}

/**
 * How long to wait after failed attempt number `attempt` (from 1): the base, doubled each time, capped,
 * and up to 10% more so that what failed together does not return together.
 */
export function backoff(attempt: number, options: BackoffOptions, random01: number): number {
  // 2 ** 1e9 is Infinity, which the cap takes care of; 0 * Infinity would be NaN, so the exponent is bounded.
  const doublings = Math.min(Math.max(attempt - 1, 0), 60)
  const waitMs = Math.min(options.baseMs * 2 ** doublings, options.capMs)
  return Math.round(waitMs * (1 + 0.1 * random01))
}
