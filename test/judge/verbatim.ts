import { type Violation, violation } from './breach.ts'
import type { Facts } from './facts.ts'

/** Promise verbatim: payload and message come back as they were given, byte for byte. */
export function verbatim({ starts, asks }: Facts): Violation[] {
  const found: Violation[] = []
  for (const start of starts) {
    const ask = asks.get(start.name)?.ask
    if (ask === undefined) continue
    for (const part of ['payload', 'message'] as const) {
      const [given, came] = [ask[part], start[part]]
      if (given === undefined || came === undefined || given === came) continue
      found.push(violation('verbatim', `${start.occurrenceId}: its ${part} was ${given} and came as ${came}`))
    }
  }
  return found
}
