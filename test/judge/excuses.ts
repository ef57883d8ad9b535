import type { Broken, Entry, Start } from './entries.ts'
import { Spans } from './sorted.ts'

/** Why a later delivery of an occurrence is not excused; null where it is. `recordedAt` is its end's place in the log. */
export type Excuse = (earlier: Start, later: Start, recordedAt: number | null) => string | null

/** A kill or a pause of a run: where it stands in the ledger, and where the log ended when it had happened. */
interface Fault {
  readonly kind: 'killed' | 'paused'
  readonly index: number
  readonly logEnd: number
  readonly at: number
}

/** What cut a run off, from when to when. */
interface Cut {
  readonly from: number
  readonly to: number
  readonly logEnd: number
}

/** The run that stands for all runs. */
const EVERY_RUN = 0

/**
 * A second delivery is right where the first meant to fail, or its process was killed, or stopped until another took
 * over, or cut off from the store, before the outcome was written. The stopped process may itself be the one that delivers again, as owner anew.
 */
export function excuseOf(entries: readonly Entry[], places: ReadonlyMap<Start, number>): Excuse {
  const faults = new Map<number, Fault[]>()
  const broken = new Map<number, Broken[]>()
  for (const [index, entry] of entries.entries()) {
    if (entry.type === 'broken') push(broken, entry.run, entry)
    else if (entry.type === 'killed' || entry.type === 'paused') {
      const { type: kind, run, logEnd } = entry
      push(faults, run, { kind, index, logEnd, at: (kind === 'killed' && entry.at) || 0 })
    }
  }
  const cuts = new Map([...broken].map(([run, all]) => [run, new Spans(all.map(cutOf))]))
  return (earlier, later, recordedAt) => {
    if (earlier.willFail) return null
    // Nothing of it was in the log before.
    const hits = ({ logEnd }: Cut) => recordedAt === null || recordedAt > logEnd
    for (const run of [earlier.run, EVERY_RUN])
      if (cuts.get(run)?.some(earlier.at, later.at, hits)) return null
    const [from, to] = [places.get(earlier)!, places.get(later)!]
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

function cutOf({ at, lastsMs, logEnd }: Broken): Cut {
  return { from: at, to: at + lastsMs, logEnd }
}

function push<T>(groups: Map<number, T[]>, run: number, item: T): void {
  const group = groups.get(run)
  if (group === undefined) groups.set(run, [item])
  else group.push(item)
}
