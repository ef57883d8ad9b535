import { type Violation, violation } from './breach.ts'
import type { Start } from './entries.ts'
import { excuseOf } from './excuses.ts'
import { type Facts, isEnd } from './facts.ts'
import { placesOf } from './places.ts'

/** An occurrence is delivered again only for a reason, and each delivery counts those before it. */
export function repeats({ evidence, startsOf, recordsOf }: Facts): Violation[] {
  const found: Violation[] = []
  const places = placesOf(evidence.entries, startsOf)
  const excuse = excuseOf(evidence.entries, places)
  for (const [occurrenceId, starts] of startsOf) {
    if (starts.length === 1) continue
    const deliveries = starts.toSorted((a, b) => places.get(a)! - places.get(b)!)
    const recordedAt = recordsOf.get(occurrenceId)?.find(isEnd)?.place ?? null
    for (const [i, later] of deliveries.entries()) {
      const earlier = deliveries[i - 1]
      if (earlier === undefined) continue
      const pair = `${occurrenceId}: ${told(earlier)}, then ${told(later)}`
      if (later.attempt <= earlier.attempt) found.push(violation('uncounted', pair))
      const fault = excuse(earlier, later, recordedAt)
      if (fault !== null) found.push(violation('duplicate', `${pair}, ${fault}`))
    }
  }
  return found
}

function told({ attempt, run, at }: Start): string {
  return `attempt ${attempt} in run ${run} at ${at}`
}
