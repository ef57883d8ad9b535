import { type Violation, violation } from './breach.ts'
import type { Facts } from './facts.ts'

/** Promise isolated: another owner's alarms are not found, and a delivery carries the scope of its request. */
export function isolated({ starts, asks, evidence }: Facts): Violation[] {
  const found: Violation[] = []
  for (const entry of evidence.entries)
    if (entry.type === 'foreign_access' && entry.answer !== 'not_found')
      found.push(violation('isolated', `${entry.call} of another owner's alarm was answered ${entry.answer}`))
  for (const { name, occurrenceId, scope } of starts) {
    const asked = asks.get(name)?.ask.scope
    if (asked === undefined || scope === undefined || asked === scope) continue
    found.push(violation('isolated', `${occurrenceId} was requested by ${asked} and delivered as ${scope}`))
  }
  return found
}
