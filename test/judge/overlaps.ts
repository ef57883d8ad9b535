import { type Violation, violation } from './breach.ts'
import { type Facts, isReport } from './facts.ts'
import type { Chain } from './model.ts'

/**
 * An alarm that is to have one occurrence open at a time has no more: the next begins when the report on the one before
 * has come, or is waited for no longer. Only where it was asked for once: a move begins anew beside what is open.
 */
export function overlaps({ chains, recordsOf }: Facts): Violation[] {
  return chains.flatMap((chain) => {
    const [call, another] = chain.asks
    if (call?.ask.isAlone !== true || another !== undefined) return []
    return besideAnother(chain, recordsOf)
  })
}

function besideAnother({ starts }: Chain, recordsOf: Facts['recordsOf']): Violation[] {
  const found: Violation[] = []
  let [openTo, open] = [Number.NEGATIVE_INFINITY, '']
  for (const { at, occurrenceId } of starts) {
    if (occurrenceId === open) continue
    // A record is dated no later than it was written: this one had not ended.
    if (at < openTo) found.push(violation('overlap', `${occurrenceId} began while ${open} was open`))
    openTo = recordsOf.get(occurrenceId)?.find(isReport)?.at ?? Number.NEGATIVE_INFINITY
    open = occurrenceId
  }
  return found
}
