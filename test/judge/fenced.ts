import { type Violation, violation } from './breach.ts'
import type { Facts } from './facts.ts'

/** Promise fenced: whoever begins a delivery owns the shard at that moment, and what a former owner writes is void. */
export function fenced({ starts, evidence }: Facts): Violation[] {
  const found = (evidence.formerOwners ?? []).map((text) => violation('former_owner', text))
  for (const { occurrenceId, process, owner } of starts) {
    if (process === undefined || owner === undefined || owner === process) continue
    const text = `${occurrenceId} was begun by ${process}, and the owner was ${owner ?? 'nobody'}`
    found.push(violation('unfenced', text))
  }
  return found
}
