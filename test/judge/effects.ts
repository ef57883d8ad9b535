import { type Violation, violation } from './breach.ts'
import { type Facts, groupBy, isDelivered } from './facts.ts'

/** A transactional handler's row exists exactly once if its settle was written, and not at all otherwise. */
export function effects({ evidence, startsOf, recordsOf, asks }: Facts): Violation[] {
  const found: Violation[] = []
  const { prunedBefore = Number.NEGATIVE_INFINITY } = evidence
  const rows = groupBy(evidence.effects, (occurrenceId) => occurrenceId)
  for (const [occurrenceId, [start]] of startsOf) {
    if (asks.get(start!.name)?.ask.effect !== true || start!.scheduledFor < prunedBefore) continue
    const count = rows.get(occurrenceId)?.length ?? 0
    const fired = recordsOf.get(occurrenceId)?.some(isDelivered) ?? false
    if (count !== (fired ? 1 : 0)) {
      const text = `${occurrenceId} has ${count} rows and is ${fired ? '' : 'not '}recorded as fired`
      found.push(violation('effect', text))
    }
  }
  for (const occurrenceId of rows.keys()) {
    const [start] = startsOf.get(occurrenceId) ?? []
    if (start === undefined || asks.get(start.name)?.ask.effect !== true)
      found.push(violation('effect', `${occurrenceId} has a row, but was never delivered`))
  }
  return found
}
