import { type Violation, violation } from './breach.ts'
import { type Facts, isReport } from './facts.ts'
import type { Chain } from './model.ts'

/**
 * An exclusive alarm has at most one open occurrence: the next begins after the report on the previous one has arrived
 * or timed out. Checked only for alarms with a single ask, because a reschedule starts anew beside an open occurrence.
 */
export function overlaps({ chains, recordsOf }: Facts): Violation[] {
  return chains.flatMap((chain) => {
    const [call, another] = chain.asks
    if (call?.ask.isExclusive !== true || another !== undefined) return []
    return overlapping(chain, recordsOf)
  })
}

function overlapping({ starts }: Chain, recordsOf: Facts['recordsOf']): Violation[] {
  const found: Violation[] = []
  let [openTo, open] = [Number.NEGATIVE_INFINITY, '']
  for (const { at, occurrenceId } of starts) {
    if (occurrenceId === open) continue
    // A record's time is never later than its write, so the previous occurrence had not ended.
    if (at < openTo) found.push(violation('overlap', `${occurrenceId} began while ${open} was open`))
    openTo = recordsOf.get(occurrenceId)?.find(isReport)?.at ?? Number.NEGATIVE_INFINITY
    open = occurrenceId
  }
  return found
}
