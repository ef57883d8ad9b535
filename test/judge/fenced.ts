import { type Violation, violation } from './breach.ts'
import type { Facts } from './facts.ts'

/** Promise fenced: a process that begins a delivery holds the shard's lease, and writes of former holders are rejected. */
export function fenced({ starts, evidence }: Facts): Violation[] {
  const found = (evidence.formerOwners ?? []).map((text) => violation('former_owner', text))
  for (const { occurrenceId, process, owner } of starts) {
    if (process === undefined || owner === undefined || owner === process) continue
    const text = `${occurrenceId} was begun by ${process}, but the lease holder was ${owner ?? 'none'}`
    found.push(violation('unfenced', text))
  }
  return found
}
