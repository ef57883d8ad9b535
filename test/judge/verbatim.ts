import { type Violation, violation } from './breach.ts'
import type { Facts } from './facts.ts'

/** Promise verbatim: payload and message are delivered byte for byte. */
export function verbatim({ starts, asks }: Facts): Violation[] {
  const found: Violation[] = []
  for (const start of starts) {
    const ask = asks.get(start.name)?.ask
    if (ask === undefined) continue
    for (const part of ['payload', 'message'] as const) {
      const [sent, received] = [ask[part], start[part]]
      if (sent === undefined || received === undefined || sent === received) continue
      found.push(
        violation('verbatim', `${start.occurrenceId}: its ${part} was ${sent} and arrived as ${received}`),
      )
    }
  }
  return found
}
