import { type Violation, violation } from './breach.ts'
import { excuseOf } from './excuses.ts'
import { type Facts, isEnd } from './facts.ts'

/** An occurrence is delivered again only for a reason, and each delivery counts those before it. */
export function repeats({ evidence, startsOf, recordsOf }: Facts): Violation[] {
  const found: Violation[] = []
  const excuse = excuseOf(evidence.entries, startsOf)
  for (const [occurrenceId, deliveries] of startsOf) {
    if (deliveries.length === 1) continue
    const recordedAt = recordsOf.get(occurrenceId)?.find(isEnd)?.place ?? null
    for (const [i, later] of deliveries.entries()) {
      const earlier = deliveries[i - 1]
      if (earlier === undefined) continue
      const pair = `${occurrenceId}: attempt ${earlier.attempt} in run ${earlier.run}, then ${later.attempt} in run ${later.run}`
      if (later.attempt <= earlier.attempt) found.push(violation('uncounted', pair))
      const fault = excuse(earlier, later, recordedAt)
      if (fault !== null) found.push(violation('duplicate', `${pair}, ${fault}`))
    }
  }
  return found
}
