import { accountsOf } from './accounts.ts'
import { type Violation, violation } from './breach.ts'
import type { Facts } from './facts.ts'
import { type AskCall, type Chain, standing } from './model.ts'
import { gapsOf, type Owing, owedOf, owingOf } from './owed.ts'

const TOLD_MAX = 5

/**
 * Promises durable and at-least-once: every instant that was surely in force was delivered, or is in the log as failed, or
 * as skipped for a reason that is not the user's own. Of asks that may have replaced each other one must have been kept.
 */
export function atLeastOnce(facts: Facts): Violation[] {
  return facts.chains.flatMap((chain) => {
    if (chain.asks.length === 0) return []
    const owing = owingOf(chain, facts)
    const lost = lostAtEnd(chain, owing, facts)
    return lost.length > 0 ? lost : chain.asks.flatMap((call) => lostBetween(call, owing, facts))
  })
}

function lostAtEnd(chain: Chain, owing: Owing, facts: Facts): Violation[] {
  const candidates = standing(chain)
  const accounts = accountsOf(chain, 'standing')
  let missing: number[] = []
  for (const call of candidates) {
    missing = owedOf(call, owing, facts).filter((instant) => !accounts(call, instant))
    if (missing.length === 0) return []
  }
  return candidates.length === 0 ? [] : [lost(candidates.at(-1)!, missing)]
}

/** An ask that something else came after owes what lies before an instant of its own that was dealt with. */
function lostBetween(call: AskCall, owing: Owing, { evidence }: Facts): Violation[] {
  if (call.answer === 'no' || call.ask.instants.length < 2) return []
  const accounts = accountsOf(call.chain, 'replaced')
  const missing = gapsOf(call, owing, evidence).filter((instant) => !accounts(call, instant))
  return missing.length === 0 ? [] : [lost(call, missing)]
}

function lost(call: AskCall, missing: readonly number[]): Violation {
  const { chain, ask, alarmId } = call
  const told = missing.slice(0, TOLD_MAX).join(', ')
  const more = missing.length > TOLD_MAX ? ` and ${missing.length - TOLD_MAX} more` : ''
  const isGone = chain.starts.length === 0 && chain.records.length === 0
  const text = `${ask.name} (${alarmId}) was never delivered for ${told}${more}`
  return violation('lost', text, isGone ? 'durable' : 'at-least-once')
}
