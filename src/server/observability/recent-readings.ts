import type { Readings } from '../../library/index.ts'
import type { Clock } from '../../time/index.ts'

const FRESH_MS = 1_000
/** A look that has not ended by then is not waited for by those who come later. */
const LOOK_MS_MAX = 10_000

/**
 * Readings that are a second old at most. Monitors need no key: however many ask, and however often, the store is looked at
 * once a second, by one at a time.
 */
export function recentReadings(read: () => Promise<Readings>, clock: Clock): () => Promise<Readings> {
  let kept: { readonly found: Promise<Readings>; until: number } | null = null
  return () => {
    const now = clock.monotonic()
    if (kept !== null && now < kept.until) return kept.found
    const look = { found: read(), until: now + LOOK_MS_MAX }
    const ended = () => {
      look.until = clock.monotonic() + FRESH_MS
    }
    look.found.then(ended, ended)
    kept = look
    return look.found
  }
}
