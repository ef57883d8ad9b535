import { formatDay } from '../zones/index.ts'
import type { DaysOff } from './days-off.ts'
import type { Exclusion } from './exclusion.ts'

/** The working day on which a day comes to rest where days off are moved; null where there is none. */
export function movedDay({ move, offset = 0 }: Exclusion, off: DaysOff, from: number): number | null {
  let day = move === 'next' ? off.nextWorkingDay(from) : off.previousWorkingDay(from)
  for (let left = Math.abs(offset); day !== null && left > 0; left--) {
    day = offset > 0 ? off.nextWorkingDay(day + 1) : off.previousWorkingDay(day - 1)
  }
  return day
}

/** Says from which day something was moved, and why: "moved from 2026-12-25, Christmas Day (us-holidays)". */
export function movedNote({ offset = 0 }: Exclusion, off: DaysOff, from: number): string {
  const why = off.reason(from)
  const count = Math.abs(offset)
  const days = `${count} working day${count === 1 ? '' : 's'} ${offset > 0 ? 'on' : 'back'}`
  return `moved from ${formatDay(from)}${why === undefined ? '' : `, ${why}`}${count === 0 ? '' : `, ${days}`}`
}
