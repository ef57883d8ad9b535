import type { Entry, Start } from './entries.ts'

/**
 * The ledger position at which each delivery began, for occurrences delivered more than once. Usually it is the index of
 * the entry. But a process may be paused after its last lease check and before its handler writes the entry. Then another
 * process takes over, counts the attempt and writes its entry first; the paused process writes its own when it continues.
 */
export function startPositions(
  entries: readonly Entry[],
  startsOf: ReadonlyMap<string, readonly Start[]>,
): ReadonlyMap<Start, number> {
  const positions = new Map<Start, number>()
  /** Paused runs that have written nothing since, with the index of the pause. */
  const pausedAt = new Map<number, number>()
  for (const [index, entry] of entries.entries()) {
    if (entry.type === 'process_paused') pausedAt.set(entry.run, index)
    // These entries are about a run, not written by it.
    if (entry.type === 'process_paused' || entry.type === 'killed' || entry.type === 'broken') continue
    const stop = pausedAt.get(entry.run ?? 0) ?? index
    pausedAt.delete(entry.run ?? 0)
    if (entry.type !== 'start') continue
    const all = startsOf.get(entry.occurrenceId)!
    if (all.length === 1) continue
    const isOvertaken = all.some(({ run }, i) => run !== entry.run && (positions.get(all[i]!) ?? stop) > stop)
    positions.set(entry, isOvertaken ? stop - 0.5 : index)
  }
  return positions
}
