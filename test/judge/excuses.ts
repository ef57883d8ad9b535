import type { Broken, Entry, Start } from './entries.ts'
import { Spans } from './sorted.ts'

/** Why a repeated delivery is not excused, or null if it is. `recordedAt` is the log position of the occurrence's end. */
export type Excuse = (earlier: Start, later: Start, recordedAt: number | null) => string | null

/** A kill or pause of a run: its index in the ledger, and the end of the log right after it. */
interface Fault {
  readonly kind: 'killed' | 'process_paused'
  readonly index: number
  readonly logEnd: number
  readonly at: number
}

/** The time for which a run was cut off. */
interface Cut {
  readonly from: number
  readonly to: number
  readonly logEnd: number
}

/** The run number that stands for all runs. */
const EVERY_RUN = 0

/**
 * A second delivery is allowed if the first failed on purpose, or if its process was killed, paused until its lease
 * ended, or cut off from the store before the outcome was written. A paused process may itself deliver again, after it
 * has acquired the shard anew.
 */
export function excuseOf(entries: readonly Entry[], positions: ReadonlyMap<Start, number>): Excuse {
  const faults = new Map<number, Fault[]>()
  const broken = new Map<number, Broken[]>()
  for (const [index, entry] of entries.entries()) {
    if (entry.type === 'broken') push(broken, entry.run, entry)
    else if (entry.type === 'killed' || entry.type === 'process_paused') {
      const { type: kind, run, logEnd } = entry
      push(faults, run, { kind, index, logEnd, at: (kind === 'killed' && entry.at) || 0 })
    }
  }
  const cuts = new Map([...broken].map(([run, all]) => [run, new Spans(all.map(cutOf))]))
  return (earlier, later, recordedAt) => {
    if (earlier.willFail) return null
    // Its outcome was not in the log before the fault.
    const hits = ({ logEnd }: Cut) => recordedAt === null || recordedAt > logEnd
    for (const run of [earlier.run, EVERY_RUN])
      if (cuts.get(run)?.some(earlier.at, later.at, hits)) return null
    const [from, to] = [positions.get(earlier)!, positions.get(later)!]
    // A kill may be recorded after the next lease holder has begun. A pause lasts for seconds before another can begin.
    const between = (faults.get(earlier.run) ?? []).filter(({ kind, index, at }) =>
      kind === 'killed' ? earlier.run !== later.run && later.at >= at : from < index && index < to,
    )
    if (between.length === 0) return 'with no fault between them'
    const recorded = between.every(
      ({ index, logEnd }) => recordedAt !== null && recordedAt <= logEnd && index < to,
    )
    return recorded ? 'although the first was in the log before the fault' : null
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
