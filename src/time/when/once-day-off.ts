import { WakefulError } from '../../error.ts'
import { type DaysOff, type Exclusion, movedDay, movedNote } from '../calendars/index.ts'
import type { ResolvedPhrase } from '../phrases/index.ts'
import { formatDay, instantOfWallTime, localDay, offsetPeriodAt } from '../zones/index.ts'

const DAY_MS = 86_400_000

/**
 * What days off do to a single instant: it moves to a working day, once and for all, or is refused on a day off.
 * What is set is a plain instant, which no later edit of a calendar touches.
 */
export function moveToWorkingDay(at: number, exclude: Exclusion, off: DaysOff, zone: string): ResolvedPhrase {
  const day = localDay(zone, at)
  const why = off.reason(day)
  if (exclude.move === undefined) {
    if (why === undefined) return { at, notes: [] }
    throw new WakefulError(
      'invalid_rule',
      `${formatDay(day)} is a day off, ${why}: take another day, or say exclude: { …, move: 'next' } or 'previous'`,
    )
  }
  const landed = movedDay(exclude, off, day)
  if (landed === day) return { at, notes: [] }
  const wall = at + offsetPeriodAt(zone, at).offset
  const moved = landed === null ? null : instantOfWallTime(zone, wall + (landed - day) * DAY_MS, 'first')
  if (moved !== null) {
    return { at: moved, wall: wall + (landed! - day) * DAY_MS, notes: [movedNote(exclude, off, day)] }
  }
  throw new WakefulError('invalid_rule', `no working day is near ${formatDay(day)}: exclude fewer days`)
}
