import { type Violation, violation } from './breach.ts'
import type { Facts } from './facts.ts'
import { type AskCall, type Call, type Chain, currentAsks } from './model.ts'

/**
 * Promise cancel-wins, the other half: a call is refused only if the alarm has really ended. While the current ask has a
 * future instant and no cancel may have succeeded, no call on it is refused.
 */
export function refusals({ chains }: Facts): Violation[] {
  return chains.flatMap((chain) =>
    chain.calls.flatMap((call, order) => (isWrong(chain, call, order) ? [wrong(chain, call)] : [])),
  )
}

function isWrong(chain: Chain, { kind, answer, answeredAt }: Call, order: number): boolean {
  if (answer !== 'no' || answeredAt === undefined) return false
  // An occurrence of a replaced ask may still be firing; then a pause is refused with a conflict.
  if (kind === 'pause' && chain.asks.length > 1) return false
  const candidates = currentAsks({ ...chain, calls: chain.calls.slice(0, order) })
  return candidates.length > 0 && candidates.every((call) => hasFuture(call, answeredAt))
}

function hasFuture({ ask }: AskCall, at: number): boolean {
  return ask.instants.at(-1)! > at
}

function wrong({ asks, alarmIds }: Chain, { kind, answeredAt }: Call): Violation {
  const text = `${asks[0]!.ask.name} (${[...alarmIds][0]}) had future occurrences when its ${kind} was refused at ${answeredAt}`
  return violation('refused', text)
}
