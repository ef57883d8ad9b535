import { type Violation, violation } from './breach.ts'
import type { Facts } from './facts.ts'

/** Promise isolated: what is not yours is not found, and what is yours is delivered as yours. */
export function isolated({ starts, asks, evidence }: Facts): Violation[] {
  const found: Violation[] = []
  for (const entry of evidence.entries)
    if (entry.type === 'snoop' && entry.answer !== 'not_found')
      found.push(violation('isolated', `${entry.call} of another's alarm was answered ${entry.answer}`))
  for (const { name, occurrenceId, scope } of starts) {
    const asked = asks.get(name)?.ask.scope
    if (asked === undefined || scope === undefined || asked === scope) continue
    found.push(violation('isolated', `${occurrenceId} was asked for by ${asked} and delivered as ${scope}'s`))
  }
  return found
}
