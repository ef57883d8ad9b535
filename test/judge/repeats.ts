import type { Broken, Entry, Start } from './entries.ts'

/** A kill or a pause of a run: where it stands in the ledger, and where the log ended when it had happened. */
interface Fault {
  readonly kind: 'killed' | 'paused'
  readonly index: number
  readonly logEnd: number
  readonly at: number
}

/** Why a later delivery of an occurrence is not excused; null where it is. `recordedAt` is its end's place in the log. */
export type Excuse = (earlier: Start, later: Start, recordedAt: number | null) => string | null

/**
 * A second delivery is right where the first meant to fail, or its process was killed, or stopped until another took
 * over, or cut off from the store, before the outcome was written. The stopped process may itself be the one that delivers again, as owner anew.
 */
export function excuseOf(entries: readonly Entry[]): Excuse {
  const place = new Map(entries.map((entry, index) => [entry, index]))
  const faults = new Map<number, Fault[]>()
  const broken = entries.filter((entry) => entry.type === 'broken')
  for (const [index, entry] of entries.entries()) {
    if (entry.type !== 'killed' && entry.type !== 'paused') continue
    const { type: kind, run, logEnd } = entry
    const at = (kind === 'killed' && entry.at) || 0
    faults.set(run, [...(faults.get(run) ?? []), { kind, index, logEnd, at }])
  }
  return (earlier, later, recordedAt) => {
    if (earlier.willFail) return null
    if (broken.some((fault) => isHit(fault, earlier, later, recordedAt))) return null
    const [from, to] = [place.get(earlier)!, place.get(later)!]
    // A kill may be noted after the next owner has begun; a pause lasts for seconds before anyone can.
    const between = (faults.get(earlier.run) ?? []).filter(({ kind, index, at }) =>
      kind === 'killed' ? earlier.run !== later.run && later.at >= at : from < index && index < to,
    )
    if (between.length === 0) return 'and no fault between them'
    const recorded = between.every(
      ({ index, logEnd }) => recordedAt !== null && recordedAt <= logEnd && index < to,
    )
    return recorded ? 'though the first was in the log before the fault' : null
  }
}

/** Whether a run that was cut off had the earlier delivery under way, and nothing of it was in the log before. */
function isHit(fault: Broken, earlier: Start, later: Start, recordedAt: number | null): boolean {
  const { run, at, lastsMs, logEnd } = fault
  if (run !== 0 && run !== earlier.run) return false
  if (recordedAt !== null && recordedAt <= logEnd) return false
  return earlier.at <= at + lastsMs && later.at >= at
}
