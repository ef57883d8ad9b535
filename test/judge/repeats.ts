import { type Violation, violation } from './breach.ts'
import type { Start } from './entries.ts'
import { excuseOf } from './excuses.ts'
import { type Facts, isEnd } from './facts.ts'
import { startPositions } from './start-positions.ts'

/**
 * An occurrence is delivered again only after a fault or a failed attempt, and each attempt number counts the previous
 * deliveries. A delivery that a closing process aborted at its drain bound does not count.
 */
export function repeats({ evidence, startsOf, recordsOf }: Facts): Violation[] {
  const found: Violation[] = []
  const positions = startPositions(evidence.entries, startsOf)
  const excuse = excuseOf(evidence.entries, positions)
  const drained = new Set(evidence.entries.filter((entry) => entry.type === 'drained').map(attemptKey))
  for (const [occurrenceId, starts] of startsOf) {
    if (starts.length === 1) continue
    const deliveries = starts.toSorted((a, b) => positions.get(a)! - positions.get(b)!)
    const recordedAt = recordsOf.get(occurrenceId)?.find(isEnd)?.position ?? null
    for (const [i, later] of deliveries.entries()) {
      const earlier = deliveries[i - 1]
      if (earlier === undefined) continue
      const pair = `${occurrenceId}: ${describe(earlier)}, then ${describe(later)}`
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

function describe({ attempt, run, at }: Start): string {
  return `attempt ${attempt} in run ${run} at ${at}`
}
