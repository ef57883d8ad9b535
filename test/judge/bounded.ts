import { type Violation, violation } from './breach.ts'
import type { Facts } from './facts.ts'

/** Promise bounded: no process has more under way at once than it may. */
export function bounded({ starts, evidence: { concurrency } }: Facts): Violation[] {
  if (concurrency === undefined) return []
  return starts.flatMap(({ occurrenceId, run, underWay = 0 }) => {
    if (underWay <= concurrency) return []
    const text = `run ${run} had ${underWay} under way with ${occurrenceId}, and may have ${concurrency}`
    return [violation('bounded', text)]
  })
}
