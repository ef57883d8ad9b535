import { type Violation, violation } from './breach.ts'
import type { Facts } from './facts.ts'

/** Promise bounded: no process runs more deliveries at once than its concurrency allows. */
export function bounded({ starts, evidence: { concurrency } }: Facts): Violation[] {
  if (concurrency === undefined) return []
  return starts.flatMap(({ occurrenceId, run, running = 0 }) => {
    if (running <= concurrency) return []
    const text = `run ${run} ran ${running} deliveries at once with ${occurrenceId}; the limit is ${concurrency}`
    return [violation('bounded', text)]
  })
}
