import type { Entry, Start } from './ledger.ts'

/** A kill or a pause of a run: where it stands in the ledger, and where the log ended when it had happened. */
interface Fault {
  readonly kind: 'killed' | 'paused'
  readonly index: number
  readonly logEnd: number
}

/** Why a later delivery of an occurrence is not excused; null where it is. `recordedAt` is its end's place in the log. */
export type Excuse = (earlier: Start, later: Start, recordedAt: number | null) => string | null

/**
 * A second delivery is right where the first meant to fail, or its process was killed, or stopped until another took
 * over, before the outcome was written. The stopped process may itself be the one that delivers again, as owner anew.
 */
export function excuseOf(entries: readonly Entry[]): Excuse {
  const place = new Map(entries.map((entry, index) => [entry, index]))
  const faults = new Map<number, Fault[]>()
  for (const [index, entry] of entries.entries()) {
    if (entry.type !== 'killed' && entry.type !== 'paused') continue
    const { type: kind, run, logEnd } = entry
    faults.set(run, [...(faults.get(run) ?? []), { kind, index, logEnd }])
  }
  return (earlier, later, recordedAt) => {
    if (earlier.willFail) return null
    const [from, to] = [place.get(earlier)!, place.get(later)!]
    // A kill may be noted after the next owner has begun; a pause lasts for seconds before anyone can.
    const between = (faults.get(earlier.run) ?? []).filter(({ kind, index }) =>
      kind === 'killed' ? earlier.run !== later.run : from < index && index < to,
    )
    if (between.length === 0) return 'and no fault between them'
    const recorded = between.every(
      ({ index, logEnd }) => recordedAt !== null && recordedAt <= logEnd && index < to,
    )
    return recorded ? 'though the first was in the log before the fault' : null
  }
}
