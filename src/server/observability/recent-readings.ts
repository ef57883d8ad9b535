import type { Readings } from '../../library/index.ts'
import type { Clock } from '../../time/index.ts'

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
