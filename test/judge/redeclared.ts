import { type Violation, violation } from './breach.ts'
import type { Facts } from './facts.ts'

/**
 * A definition that is declared again, as programs do at every start, changes nothing. Otherwise what came due while no
 * program ran could be lost, and a pause undone.
 */
export function redeclared({ evidence }: Facts): Violation[] {
  return evidence.entries.flatMap((entry) => {
    if (entry.type !== 'declared' || entry.isUnchanged) return []
    const text = `${entry.name} (${entry.alarmId}) was declared again in run ${entry.run}, and was changed`
    return [violation('redeclared', text)]
  })
}
