import { WakefulError } from '../../error.ts'
import { weekdayOf } from '../civil/index.ts'
import { closest, counted, joinWithAnd, quote, WEEKDAY_NAMES } from '../text/index.ts'
import { formatDay, localDay, parseDay } from '../zones/index.ts'
import { type Exclusion, readExclude, SATURDAY_AND_SUNDAY } from './exclusion.ts'
import { type HolidayCalendar, lastDate } from './holiday-calendar.ts'

/** Finds a calendar by its name; `names` are the known ones, for error messages. */
export interface CalendarLookup {
  (name: string): HolidayCalendar | undefined
  readonly names?: readonly string[]
}

/** The compiled days off of a rule. Days are local dates, in days since 1970-01-01. */
export interface DaysOff {
  isOff(day: number): boolean
  /** False if all seven weekdays are off. */
  readonly hasWorkingWeekday: boolean
  /** The first working day at or after this day (step 1) or at or before it (-1); null if there is none within ten years. */
  workingDay(day: number, step: 1 | -1): number | null
  /** Why the day is off: "Christmas Day (us-holidays)", "Saturday"; undefined for a working day. */
  reason(day: number): string | undefined
}

/** How far working days are searched: ten years. */
export const SEARCH_DAYS_MAX = 3653

const NAMES_SUGGESTED_MAX = 20

/** Compiles an exclusion with these calendars. An unknown calendar is refused. */
export function daysOffOf(exclude: Exclusion, find: CalendarLookup = () => undefined): DaysOff {
  const calendars = (exclude.calendars ?? []).map((name) => find(name) ?? refuseUnknown(name, find))
  const named = calendars.map((calendar) => ({ name: calendar.name, labels: labelsOf(calendar) }))
  const weekend = [...(exclude.weekend ?? []), ...calendars.flatMap((calendar) => calendar.weekend)]
  const offWeekly = WEEKDAY_NAMES.map((_, index) => weekend.includes(index + 1))
  const isOff = (day: number) => offWeekly[weekdayOf(day)]! || named.some(({ labels }) => labels.has(day))
  const hasWorkingWeekday = offWeekly.includes(false)
  return {
    isOff,
    hasWorkingWeekday,
    workingDay(day, step) {
      if (!hasWorkingWeekday) return null
      for (let days = 0; days <= SEARCH_DAYS_MAX; days++) {
        if (!isOff(day + days * step)) return day + days * step
      }
      return null
    },
    reason(day) {
      const calendar = named.find(({ labels }) => labels.has(day))
      if (calendar === undefined) return offWeekly[weekdayOf(day)] ? WEEKDAY_NAMES[weekdayOf(day)] : undefined
      const label = calendar.labels.get(day)!
      return label === '' ? `a day of ${calendar.name}` : `${label} (${calendar.name})`
    },
  }
}

const labelsCache = new WeakMap<HolidayCalendar, ReadonlyMap<number, string>>()

/** The label of each day, cached per calendar object, because every alarm with the calendar needs them. */
function labelsOf(calendar: HolidayCalendar): ReadonlyMap<number, string> {
  const known = labelsCache.get(calendar)
  if (known !== undefined) return known
  const labels = new Map(Object.entries(calendar.dates).map(([date, label]) => [parseDay(date)!, label]))
  labelsCache.set(calendar, labels)
  return labels
}

function refuseUnknown(name: string, { names = [] }: CalendarLookup): never {
  const near = closest(name, names) ?? names.find((known) => known.startsWith(name) || name.startsWith(known))
  const known = [...names].sort().slice(0, NAMES_SUGGESTED_MAX).map(quote)
  const params = { name: quote(name), near: near === undefined ? null : quote(near), known }
  throw new WakefulError('exclude.unknown_calendar', params, { field: 'exclude' })
}

/**
 * The exclusion of a new rule with its days off; null if the input names no days. Days off that leave no weekday are refused.
 * A later edit of a calendar can lead there too; then the rule waits.
 */
export function resolveExclude(
  input: unknown,
  find: CalendarLookup | undefined,
): { exclude: Exclusion; off: DaysOff } | null {
  const named = readExclude(input)
  if (named === undefined) return null
  const exclude = withStoredWeekend(named, find)
  const off = daysOffOf(exclude, find)
  if (off.hasWorkingWeekday) return { exclude, off }
  throw new WakefulError('exclude.all_days', {}, { field: 'exclude' })
}

/** The working day to which a day moves: the next or previous one, then `offset` working days further. Null if there is none. */
export function movedDay({ move, offset = 0 }: Exclusion, off: DaysOff, from: number): number | null {
  let day = off.workingDay(from, move === 'next' ? 1 : -1)
  const step = offset > 0 ? 1 : -1
  for (let left = Math.abs(offset); day !== null && left > 0; left--) day = off.workingDay(day + step, step)
  return day
}

/**
 * The weekend that is excluded from working days: that of the exclusion, or Saturday and Sunday. Null if a named calendar
 * has its own weekend, which applies instead.
 */
export function weekendForWorkingDays(
  { calendars = [], weekend }: Exclusion,
  find: CalendarLookup | undefined,
): readonly number[] | null {
  if (weekend !== undefined) return weekend
  const calendarHasWeekend = calendars.some((name) => (find?.(name)?.weekend.length ?? 0) > 0)
  return calendarHasWeekend ? null : SATURDAY_AND_SUNDAY
}

/**
 * The exclusion as a rule stores it. With `move` and no weekend, Saturday and Sunday are off too. The weekend is stored
 * when the rule is set, so that later edits of calendars do not change its meaning.
 */
export function withStoredWeekend(exclude: Exclusion, find: CalendarLookup | undefined): Exclusion {
  const { weekend: ownWeekend, ...rest } = exclude
  const weekend = exclude.move === undefined ? ownWeekend : weekendForWorkingDays(exclude, find)
  return { ...rest, ...(weekend?.length && { weekend: [...weekend] }) }
}

/** The days that are not working days for a phrase, with the option `exclude` that was set beside it. */
export function nonWorkingDays(exclude: Exclusion = {}, find: CalendarLookup | undefined): DaysOff {
  const { calendars } = exclude
  const weekend = weekendForWorkingDays(exclude, find)
  return daysOffOf({ ...(calendars && { calendars }), ...(weekend && { weekend: [...weekend] }) }, find)
}

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
