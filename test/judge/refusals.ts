import { type Violation, violation } from './breach.ts'
import type { Facts } from './facts.ts'
import { type AskCall, type Call, type Chain, standing } from './model.ts'

/**
 * Promise cancel-wins, its other half: who is told that an alarm has ended, or ends, is told the truth. While an ask
 * stands that has an instant to come, and that nobody may have cancelled, nothing about it is refused.
 */
export function refusals({ chains }: Facts): Violation[] {
  return chains.flatMap((chain) =>
    chain.calls.flatMap((call, place) => (isWrong(chain, call, place) ? [wrong(chain, call)] : [])),
  )
}

function isWrong(chain: Chain, { kind, answer, answeredAt }: Call, place: number): boolean {
  if (answer !== 'no' || answeredAt === undefined) return false
  // What an earlier ask began, and a move has replaced, may still fire: then a pause may be asked to come again later.
  if (kind === 'park' && chain.asks.length > 1) return false
  const candidates = standing({ ...chain, calls: chain.calls.slice(0, place) })
  return candidates.length > 0 && candidates.every((call) => isToCome(call, answeredAt))
}

function isToCome({ ask }: AskCall, at: number): boolean {
  return ask.instants.at(-1)! > at
}

function wrong({ asks, alarmIds }: Chain, { kind, answeredAt }: Call): Violation {
  const text = `${asks[0]!.ask.name} (${[...alarmIds][0]}) had more to come when its ${kind} was refused at ${answeredAt}`
  return violation('refused', text)
}
