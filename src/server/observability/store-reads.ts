import type { Readings } from '../../library/index.ts'
import { type Clock, formatDuration } from '../../time/index.ts'

/** What a scrape waits for the store. It is answered within a second: monitors give up soon, and alert on `wakeful_store_up`. */
export const SCRAPE_MS_MAX = 800
const FRESH_MS = 1_000
/** A read that takes longer is started again by the next caller. */
const READ_MS_MAX = 10_000

/**
 * Readings that are a second old at most. Monitors need no key: however many call, and however often, the store is read
 * once a second, by one of them at a time.
 */
export function recentReadings(read: () => Promise<Readings>, clock: Clock): () => Promise<Readings> {
  let cached: { readonly found: Promise<Readings>; until: number } | null = null
  return () => {
    const now = clock.monotonic()
    if (cached !== null && now < cached.until) return cached.found
    const reading = { found: read(), until: now + READ_MS_MAX }
    const ended = () => {
      reading.until = clock.monotonic() + FRESH_MS
    }
    reading.found.then(ended, ended)
    cached = reading
    return reading.found
  }
}

/** The store did not answer in time. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut'
}

/** Waits for the store for a bounded time. A later answer is ignored. */
export async function withTimeout<T>(answer: Promise<T>, timeoutMs: number, clock: Clock): Promise<T> {
  const timeout = Promise.withResolvers<never>()
  const message = `the store did not answer within ${formatDuration(timeoutMs)}`
  const cancel = clock.setTimer(timeoutMs, () => timeout.reject(new TimedOut(message)))
  try {
    return await Promise.race([answer, timeout.promise])
  } finally {
    cancel()
  }
}
