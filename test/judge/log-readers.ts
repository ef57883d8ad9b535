import { type Violation, violation } from './breach.ts'
import type { Facts } from './facts.ts'

/**
 * Promise at-least-once, for those who are woken by the log: whoever follows it by its cursor is given every record, each
 * once and in order, whatever restarts.
 */
export function logReaders({ evidence: { entries, logPlaces, logOwn } }: Facts): Violation[] {
  if (logPlaces === undefined) return []
  const found: Violation[] = []
  const own = logOwn && new Set(logOwn)
  const given = new Map<string, { readonly places: Set<number>; last: number }>()
  for (const entry of entries) {
    if (entry.type !== 'read') continue
    const { reader, place } = entry
    if (own?.has(place) === false)
      found.push(violation('isolated', `${reader} was given ${place}, which is another's`))
    const known = given.get(reader) ?? { places: new Set(), last: Number.NEGATIVE_INFINITY }
    if (place <= known.last)
      found.push(violation('log_missed', `${reader} was given ${place} after ${known.last}`))
    known.places.add(place)
    known.last = Math.max(known.last, place)
    given.set(reader, known)
  }
  if (given.size === 0 && logPlaces.length > 0)
    found.push(violation('log_missed', `nobody was given any of ${logPlaces.length} records`))
  for (const [reader, { places }] of given) {
    const missed = logPlaces.filter((place) => !places.has(place))
    if (missed.length === 0) continue
    const text = `${reader} was not given ${missed.length} records, the first at ${missed[0]}`
    found.push(violation('log_missed', text))
  }
  return found
}
