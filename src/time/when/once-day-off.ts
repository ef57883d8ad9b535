import { WakefulError } from '../../error.ts'
import { type DaysOff, type Exclusion, landingOf, movedNote } from '../calendars/index.ts'
import type { PlacedPhrase } from '../phrases/index.ts'
import { formatDay, instantOfWall, localDay, stretchAt } from '../zones/index.ts'

const DAY_MS = 86_400_000

/**
 * What days off do to a single instant: it moves to a working day, once and for all, or is refused on a day off.
 * What is set is a plain instant, which no later edit of a calendar touches.
 */
export function openDay(at: number, exclude: Exclusion, off: DaysOff, zone: string): PlacedPhrase {
  const day = localDay(zone, at)
  const why = off.why(day)
  if (exclude.move === undefined) {
    if (why === undefined) return { at, notes: [] }
    throw new WakefulError(
      'invalid_rule',
      `${formatDay(day)} is a day off, ${why}: take another day, or say exclude: { …, move: 'next' } or 'previous'`,
    )
  }
  const landed = landingOf(exclude, off, day)
  if (landed === day) return { at, notes: [] }
  const wall = at + stretchAt(zone, at).offset
  const moved = landed === null ? null : instantOfWall(zone, wall + (landed - day) * DAY_MS, 'first')
  if (moved !== null) {
    return { at: moved, wall: wall + (landed! - day) * DAY_MS, notes: [movedNote(exclude, off, day)] }
  }
  throw new WakefulError('invalid_rule', `no working day is near ${formatDay(day)}: exclude fewer days`)
}
