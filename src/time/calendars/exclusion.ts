import { WakefulError } from '../../error.ts'
import { closest, quote, WEEKDAYS } from '../text/index.ts'
import { parseDay } from '../zones/index.ts'
import { compileDaysOff, type DaysOff, type NamedDays } from './days-off.ts'
import {
  CALENDAR_NAME_FORM,
  type HolidayCalendar,
  isCalendarName,
  readWeekend,
  WEEKEND_WORDS,
} from './holiday-calendar.ts'

/** Days off, and what happens on them: plain data, stored in the rule. */
export interface Exclusion {
  /** Names of calendars whose days are off. */
  calendars?: string[]
  /** Weekdays that are off, Monday is 1. */
  weekend?: number[]
  /** An instant on a day off moves to the next or previous working day; without `move` it is skipped. */
  move?: 'next' | 'previous'
  /** With `move`: this many working days further, or back if negative. */
  offset?: number
}

/** Days off as input: names of calendars and 'weekends', or an object with more options. */
export type ExcludeInput =
  | string
  | readonly string[]
  | {
      calendars?: string | readonly string[]
      /** True is Saturday and Sunday; with `move`, [] means that no weekday is off. */
      weekend?: true | readonly (string | number)[]
      move?: 'next' | 'previous'
      offset?: number
    }

/** Finds a calendar by its name; `names` are the known ones, for error messages. */
export interface CalendarLookup {
  (name: string): HolidayCalendar | undefined
  readonly names?: readonly string[]
}

const OFFSET_MAX = 250
const CALENDARS_MAX = 20
const NAMES_SUGGESTED_MAX = 20
const FIELDS = ['calendars', 'weekend', 'move', 'offset']
const SATURDAY_AND_SUNDAY = [6, 7]

/** Parses an exclusion; undefined if it names no days. */
export function readExclude(input: unknown): Exclusion | undefined {
  if (input === undefined) return undefined
  const listed = typeof input === 'string' ? [input] : input
  if (Array.isArray(listed)) return readShorthand(listed)
  if (typeof listed !== 'object' || listed === null) throw invalidExcludeError(input)
  const unknown = Object.keys(listed).find((name) => !FIELDS.includes(name))
  if (unknown !== undefined) throw invalidExcludeError(input, `${quote(unknown)} is unknown`)
  const { calendars, weekend, move, offset } = listed as Record<string, unknown>
  const days = {
    ...calendarsOf(calendars),
    ...(weekend !== undefined && {
      weekend: weekend === true ? SATURDAY_AND_SUNDAY : readWeekend(weekend, 'exclude'),
    }),
  }
  return withDefaults(days, readMove(move, offset))
}

/** Parses a list in which 'weekends' is Saturday and Sunday, 'fri' is Fridays, and others are names of calendars. */
function readShorthand(items: unknown[]): Exclusion | undefined {
  const { calendars, weekdays } = splitDayNames(items)
  return withDefaults({ ...calendarsOf(calendars), ...(weekdays.length > 0 && { weekend: weekdays }) }, {})
}

/** Splits names of days off into weekdays and names of calendars. */
export function splitDayNames<Name>(items: readonly Name[]): { calendars: Name[]; weekdays: number[] } {
  const weekdays = new Set<number>()
  const calendars = items.filter((item) => {
    const days = typeof item === 'string' ? weekdaysNamed(item) : []
    for (const day of days) weekdays.add(day)
    return days.length === 0
  })
  return { calendars, weekdays: [...weekdays].sort((a, b) => a - b) }
}

function weekdaysNamed(word: string): readonly number[] {
  const name = word.trim().toLowerCase()
  if (WEEKEND_WORDS.includes(name)) return SATURDAY_AND_SUNDAY
  const day = WEEKDAYS.get(name)
  return day === undefined ? [] : [day]
}

function withDefaults(
  days: Pick<Exclusion, 'calendars' | 'weekend'>,
  moves: Pick<Exclusion, 'move' | 'offset'>,
): Exclusion | undefined {
  const named = days.calendars !== undefined || (days.weekend?.length ?? 0) > 0
  if (!named && moves.move === undefined) return undefined
  if (!named) throw invalidExcludeError(undefined, 'move needs days off')
  const { weekend, ...rest } = days
  // An empty weekend has a meaning only with `move`.
  const keepsWeekend = weekend !== undefined && (weekend.length > 0 || moves.move !== undefined)
  return { ...rest, ...(keepsWeekend && { weekend: [...weekend] }), ...moves }
}

function calendarsOf(input: unknown): Pick<Exclusion, 'calendars'> {
  if (input === undefined) return {}
  const names: unknown = typeof input === 'string' ? [input] : input
  if (!Array.isArray(names)) throw invalidExcludeError(input)
  for (const name of names) if (!isCalendarName(name)) throw invalidNameError(name)
  if (names.length > CALENDARS_MAX) throw invalidExcludeError(undefined, `at most ${CALENDARS_MAX} calendars`)
  return names.length === 0 ? {} : { calendars: [...new Set(names as string[])].sort() }
}

function readMove(move: unknown, offset: unknown): Pick<Exclusion, 'move' | 'offset'> {
  if (move !== undefined && move !== 'next' && move !== 'previous') {
    throw invalidExcludeError(undefined, `move ${quote(move)} is not 'next' or 'previous'`)
  }
  if (offset === undefined) return move === undefined ? {} : { move }
  if (!isOffset(offset)) {
    throw invalidExcludeError(
      undefined,
      `offset ${quote(offset)} is not a whole number from -${OFFSET_MAX} to ${OFFSET_MAX}`,
    )
  }
  if (move === undefined)
    throw invalidExcludeError(undefined, "offset goes with move: 'next' or move: 'previous'")
  return { move, ...(offset !== 0 && { offset: offset as number }) }
}

function isOffset(value: unknown): boolean {
  return Number.isInteger(value) && Math.abs(value as number) <= OFFSET_MAX
}

/** Whether a value from a database is a valid exclusion. */
export function isExclusion(value: unknown): value is Exclusion {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const { calendars, weekend, move, offset } = value as Record<string, unknown>
  if (!Object.keys(value).every((name) => FIELDS.includes(name))) return false
  if (calendars === undefined && weekend === undefined) return false
  return (
    (calendars === undefined || isListOf(calendars, CALENDARS_MAX, isCalendarName)) &&
    (weekend === undefined || isListOf(weekend, 6, isWeekday)) &&
    (move === undefined ? offset === undefined : move === 'next' || move === 'previous') &&
    (offset === undefined || isOffset(offset))
  )
}

function isListOf(value: unknown, lengthMax: number, check: (item: unknown) => boolean): boolean {
  if (!Array.isArray(value) || value.length === 0 || value.length > lengthMax) return false
  return value.every(check) && new Set(value).size === value.length
}

function isWeekday(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 7
}

/** Compiles an exclusion with these calendars. An unknown calendar is refused. */
export function daysOffOf(exclude: Exclusion, find: CalendarLookup = () => undefined): DaysOff {
  const calendars = (exclude.calendars ?? []).map((name) => find(name) ?? refuseUnknown(name, find))
  const weekend = new Set([...(exclude.weekend ?? []), ...calendars.flatMap((each) => each.weekend)])
  return compileDaysOff(weekend, calendars.map(namedDays))
}

/** Refuses days off that leave no weekday. A later edit of a calendar can lead there too; then the rule waits. */
export function assertWorkingWeekday(off: DaysOff | null): void {
  if (off === null || off.hasWorkingWeekday) return
  throw new WakefulError('exclude.all_days', {})
}

const namedDaysCache = new WeakMap<HolidayCalendar, NamedDays>()

/** The dates of a calendar by day, cached per calendar object, because every alarm with the calendar needs them. */
function namedDays(calendar: HolidayCalendar): NamedDays {
  let named = namedDaysCache.get(calendar)
  if (named === undefined) {
    const labels = Object.entries(calendar.dates).map(([date, label]): [number, string] => [
      parseDay(date)!,
      label,
    ])
    named = { name: calendar.name, labels: new Map(labels) }
    namedDaysCache.set(calendar, named)
  }
  return named
}

function refuseUnknown(name: string, { names = [] }: CalendarLookup): never {
  const near = closest(name, names) ?? names.find((known) => known.startsWith(name) || name.startsWith(known))
  const known = [...names].sort().slice(0, NAMES_SUGGESTED_MAX).map(quote)
  throw new WakefulError('exclude.unknown_calendar', {
    name: quote(name),
    near: near === undefined ? null : quote(near),
    known,
  })
}

function invalidNameError(name: unknown): WakefulError {
  return new WakefulError('exclude.calendar_name', { name: quote(name), form: CALENDAR_NAME_FORM })
}

function invalidExcludeError(input: unknown, detail?: string): WakefulError {
  return detail === undefined
    ? new WakefulError('exclude.malformed', { value: quote(input) })
    : new WakefulError('exclude.invalid', { detail })
}
