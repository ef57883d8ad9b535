import { type Violation, violation } from './breach.ts'
import type { Facts } from './facts.ts'

/**
 * Promise at-least-once, for readers of the log: a reader that keeps its cursor gets every record once and in order,
 * across restarts.
 */
export function logReaders({ evidence: { entries, logPositions, logAllowed } }: Facts): Violation[] {
  if (logPositions === undefined) return []
  const found: Violation[] = []
  const own = logAllowed && new Set(logAllowed)
  const readers = new Map<string, { readonly positions: Set<number>; last: number }>()
  for (const entry of entries) {
    if (entry.type !== 'read') continue
    const { reader, position } = entry
    if (own?.has(position) === false)
      found.push(violation('isolated', `${reader} got ${position}, which belongs to another owner`))
    const known = readers.get(reader) ?? { positions: new Set(), last: Number.NEGATIVE_INFINITY }
    if (position <= known.last)
      found.push(violation('log_missed', `${reader} got ${position} after ${known.last}`))
    known.positions.add(position)
    known.last = Math.max(known.last, position)
    readers.set(reader, known)
  }
  if (readers.size === 0 && logPositions.length > 0)
    found.push(violation('log_missed', `no reader got any of ${logPositions.length} records`))
  for (const [reader, { positions }] of readers) {
    const missed = logPositions.filter((position) => !positions.has(position))
    if (missed.length === 0) continue
    const text = `${reader} did not get ${missed.length} records, the first at ${missed[0]}`
    found.push(violation('log_missed', text))
  }
  return found
}
