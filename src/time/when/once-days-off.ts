import { WakefulError } from '../../error.ts'
import {
  assertWorkingWeekday,
  type DaysOff,
  daysOffOf,
  type ExcludeInput,
  type Exclusion,
  expiredCalendarNotes,
  movedDay,
  movedNote,
  readExclude,
  withStoredWeekend,
} from '../calendars/index.ts'
import { DAY_MS } from '../durations/index.ts'
import type { ResolvedPhrase } from '../phrases/index.ts'
import { formatDay, instantOfWallTime, localDay, offsetPeriodAt } from '../zones/index.ts'
import type { WhenContext } from './when.ts'

/**
 * Applies days off to a single instant: with `move` it moves to a working day, otherwise a day off is refused. The result
 * is a plain instant, which later edits of a calendar do not change.
 */
export function applyDaysOff(
  at: number,
  input: ExcludeInput,
  { timezone, calendars }: WhenContext,
): ResolvedPhrase {
  const named = readExclude(input)
  if (named === undefined) return { at, notes: [] }
  const exclude = withStoredWeekend(named, calendars)
  const off = daysOffOf(exclude, calendars)
  assertWorkingWeekday(off)
  const moved = moveToWorkingDay(at, exclude, off, timezone)
  return { ...moved, notes: [...moved.notes, ...expiredCalendarNotes(exclude, calendars, timezone, at)] }
}

function moveToWorkingDay(at: number, exclude: Exclusion, off: DaysOff, zone: string): ResolvedPhrase {
  const day = localDay(zone, at)
  const reason = off.reason(day)
  if (exclude.move === undefined) {
    if (reason === undefined) return { at, notes: [] }
    throw new WakefulError('exclude.day_off', { day: formatDay(day), name: reason })
  }
  const newDay = movedDay(exclude, off, day)
  if (newDay === day) return { at, notes: [] }
  const wall = at + offsetPeriodAt(zone, at).offset
  const moved = newDay === null ? null : instantOfWallTime(zone, wall + (newDay - day) * DAY_MS, 'first')
  if (moved !== null) {
    return { at: moved, wall: wall + (newDay! - day) * DAY_MS, notes: [movedNote(exclude, off, day)] }
  }
  throw new WakefulError('exclude.no_working_day', { day: formatDay(day) })
}
