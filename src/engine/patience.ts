import type { Clock } from '../time/index.ts'

/**
 * Whether deciding has taken longer than this. It counts from the first question, which comes after the first decision: a
 * store that is far or busy is no reason to throw away what it has read.
 */
export function patience(clock: Clock, ms: number): () => boolean {
  let since: number | null = null
  return () => {
    since ??= clock.monotonic()
    return clock.monotonic() - since > ms
  }
}
