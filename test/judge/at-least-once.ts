import { accountedFor } from './accounted-for.ts'
import { type Violation, violation } from './breach.ts'
import type { Facts } from './facts.ts'
import { type AskCall, type Chain, currentAsks } from './model.ts'
import { type ChainState, chainStateOf, gapsOf, owedOf } from './owed.ts'

const LISTED_MAX = 5

/**
 * Promises durable and at-least-once. Every instant that was certainly in force was delivered, or is in the log as
 * failed, or as skipped for a reason other than a user's call. If several asks may have replaced each other, one of them
 * must have been kept.
 */
export function atLeastOnce(facts: Facts): Violation[] {
  return facts.chains.flatMap((chain) => {
    if (chain.asks.length === 0) return []
    const state = chainStateOf(chain, facts)
    const lost = lostAtEnd(chain, state, facts)
    return lost.length > 0 ? lost : chain.asks.flatMap((call) => lostBetween(call, state, facts))
  })
}

function lostAtEnd(chain: Chain, state: ChainState, facts: Facts): Violation[] {
  const candidates = currentAsks(chain)
  const isAccountedFor = accountedFor(chain, 'current')
  let missing: number[] = []
  for (const call of candidates) {
    missing = owedOf(call, state, facts).filter((instant) => !isAccountedFor(call, instant))
    if (missing.length === 0) return []
  }
  return candidates.length === 0 ? [] : [lost(candidates.at(-1)!, missing)]
}

/** A replaced ask still owes what was due then, and every instant before one of its instants that was handled. */
function lostBetween(call: AskCall, state: ChainState, facts: Facts): Violation[] {
  if (call.answer === 'no' || call.ask.instants.length < 2) return []
  const isAccountedFor = accountedFor(call.chain, 'replaced')
  const missing = gapsOf(call, state, facts).filter((instant) => !isAccountedFor(call, instant))
  return missing.length === 0 ? [] : [lost(call, missing)]
}

function lost(call: AskCall, missing: readonly number[]): Violation {
  const { chain, ask, alarmId } = call
  const listed = missing.slice(0, LISTED_MAX).join(', ')
  const more = missing.length > LISTED_MAX ? ` and ${missing.length - LISTED_MAX} more` : ''
  const isGone = chain.starts.length === 0 && chain.records.length === 0
  const text = `${ask.name} (${alarmId}) was never delivered for ${listed}${more}`
  return violation('lost', text, isGone ? 'durable' : 'at-least-once')
}
