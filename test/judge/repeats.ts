import { type Violation, violation } from './breach.ts'
import type { Start } from './entries.ts'
import { excuseOf } from './excuses.ts'
import { type Facts, isEnd } from './facts.ts'
import { placesOf } from './places.ts'

/**
 * An occurrence is delivered again only for a reason, and each delivery counts those before it, except one that its closing
 * process broke off at the drain bound.
 */
export function repeats({ evidence, startsOf, recordsOf }: Facts): Violation[] {
  const found: Violation[] = []
  const places = placesOf(evidence.entries, startsOf)
  const excuse = excuseOf(evidence.entries, places)
  const drained = new Set(evidence.entries.filter((entry) => entry.type === 'drained').map(attemptKey))
  for (const [occurrenceId, starts] of startsOf) {
    if (starts.length === 1) continue
    const deliveries = starts.toSorted((a, b) => places.get(a)! - places.get(b)!)
    const recordedAt = recordsOf.get(occurrenceId)?.find(isEnd)?.place ?? null
    for (const [i, later] of deliveries.entries()) {
      const earlier = deliveries[i - 1]
      if (earlier === undefined) continue
      const pair = `${occurrenceId}: ${told(earlier)}, then ${told(later)}`
      const isDrained = drained.has(attemptKey(earlier))
      const least = isDrained ? earlier.attempt : earlier.attempt + 1
      if (later.attempt < least) found.push(violation('uncounted', pair))
      const fault = isDrained ? null : excuse(earlier, later, recordedAt)
      if (fault !== null) found.push(violation('duplicate', `${pair}, ${fault}`))
    }
  }
  return found
}

function attemptKey({ run, occurrenceId, attempt }: Pick<Start, 'run' | 'occurrenceId' | 'attempt'>): string {
  return `${run}:${occurrenceId}:${attempt}`
}

function told({ attempt, run, at }: Start): string {
  return `attempt ${attempt} in run ${run} at ${at}`
}
