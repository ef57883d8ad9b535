import type { Entry, Start } from './entries.ts'

/**
 * Where in the ledger each delivery began, of occurrences that were delivered more than once. Mostly that is where its line
 * stands. But a process may be stopped after its last look at its lease and before its handler's first line (hazard 14):
 * then others take over, count it and write theirs, and its own line comes when it goes on, before anything else it says.
 */
export function placesOf(
  entries: readonly Entry[],
  startsOf: ReadonlyMap<string, readonly Start[]>,
): ReadonlyMap<Start, number> {
  const places = new Map<Start, number>()
  /** Runs that were stopped and have said nothing since, and where they were. */
  const stopped = new Map<number, number>()
  for (const [index, entry] of entries.entries()) {
    if (entry.type === 'paused') stopped.set(entry.run, index)
    // These are said about a run, not by it.
    if (entry.type === 'paused' || entry.type === 'killed' || entry.type === 'broken') continue
    const stop = stopped.get(entry.run ?? 0) ?? index
    stopped.delete(entry.run ?? 0)
    if (entry.type !== 'start') continue
    const all = startsOf.get(entry.occurrenceId)!
    if (all.length === 1) continue
    const isOvertaken = all.some(({ run }, i) => run !== entry.run && (places.get(all[i]!) ?? stop) > stop)
    places.set(entry, isOvertaken ? stop - 0.5 : index)
  }
  return places
}
