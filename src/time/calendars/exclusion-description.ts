import { counted, joinWithAnd, WEEKDAY_NAMES } from '../text/index.ts'
import { formatDay, localDay } from '../zones/index.ts'
import type { CalendarLookup, DaysOff } from './days-off.ts'
import type { Exclusion } from './exclusion.ts'
import { lastDate } from './holiday-calendar.ts'

/** Describes what days off do to a rule: ", except on us-holidays and at weekends". */
export function describeExclusion({ calendars = [], weekend, move, offset = 0 }: Exclusion): string {
  if (move === undefined) {
    if (!isDefault(weekend))
      return `, except on ${joinWithAnd([...calendars, ...(weekend ?? []).map(plural)])}`
    return `, except ${calendars.length === 0 ? '' : `on ${calendars.join(', ')} and `}at weekends`
  }
  const off = [...calendars, ...(isDefault(weekend) ? ['weekends'] : (weekend ?? []).map(plural))]
  const further = offset === 0 ? '' : offset > 0 ? ` and ${offset} more` : ` and ${-offset} back`
  return `, moved to the ${move} working day${further} (${off.join(', ')})`
}

/** Notes from which day an occurrence was moved, and why: "moved from 2026-12-25, Christmas Day (us-holidays)". */
export function movedNote({ offset = 0 }: Exclusion, off: DaysOff, from: number): string {
  const reason = off.reason(from)
  const count = Math.abs(offset)
  const days = count === 0 ? '' : `, ${counted(count, 'working day')} ${offset > 0 ? 'on' : 'back'}`
  return `moved from ${formatDay(from)}${reason === undefined ? '' : `, ${reason}`}${days}`
}

/** Notes which of the named calendars have no dates left at this instant: "company has no dates after …". */
export function expiredCalendarNotes(
  { calendars = [] }: Exclusion,
  find: CalendarLookup | undefined,
  zone: string,
  at: number,
): string[] {
  const today = formatDay(localDay(zone, at))
  return calendars.flatMap((name) => {
    const calendar = find?.(name)
    const last = calendar === undefined ? null : lastDate(calendar)
    return last === null || last >= today ? [] : [`${name} has no dates after ${last}`]
  })
}

function isDefault(weekend: readonly number[] | undefined): boolean {
  return weekend?.join() === '6,7'
}

function plural(weekday: number): string {
  return `${WEEKDAY_NAMES[weekday - 1]}s`
}
