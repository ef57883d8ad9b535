import { inField, unknownField, WakefulError } from '../../error.ts'
import {
  assertWhole,
  type Check,
  listOf,
  objectOf,
  oneOf,
  quote,
  WEEKDAY_NAMES,
  WEEKDAYS,
  wholeFrom,
} from '../text/index.ts'
import { isCalendarName, readWeekend, WEEKEND_WORDS } from './holiday-calendar.ts'

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

/** The weekend of most countries, which applies if no other is named. */
export const SATURDAY_AND_SUNDAY: readonly number[] = [6, 7]

const OFFSET_MAX = 250
const CALENDARS_MAX = 20
const MOVES = ['next', 'previous'] as const

const FIELDS = {
  calendars: listOf(isCalendarName, 1, CALENDARS_MAX),
  weekend: listOf(wholeFrom(1, 7), 1, 6),
  move: oneOf(...MOVES),
  offset: wholeFrom(-OFFSET_MAX, OFFSET_MAX),
}
const hasFields: Check = objectOf({}, FIELDS)

/** Whether a value from a database is a valid exclusion. */
export function isExclusion(value: unknown): value is Exclusion {
  if (!hasFields(value)) return false
  const { calendars, weekend, move, offset } = value as Exclusion
  const namesDays = calendars !== undefined || weekend !== undefined
  return namesDays && (offset === undefined || move !== undefined)
}

/** Parses an exclusion; undefined if it names no days. */
export function readExclude(input: unknown): Exclusion | undefined {
  return input === undefined ? undefined : inField('exclude', () => parseExclude(input))
}

function parseExclude(input: unknown): Exclusion | undefined {
  const listed = typeof input === 'string' ? [input] : input
  if (Array.isArray(listed)) {
    // 'weekends' is Saturday and Sunday, 'fri' is Fridays, and others are names of calendars.
    const { calendars, weekdays } = splitDayNames<unknown>(listed)
    return exclusionOf(readCalendars(calendars), weekdays, {})
  }
  if (typeof listed !== 'object' || listed === null) throw malformedError(input)
  const unknown = Object.keys(listed).find((name) => !Object.hasOwn(FIELDS, name))
  if (unknown !== undefined) throw unknownField(unknown, Object.keys(FIELDS))
  const { calendars, weekend, move, offset } = listed as Record<string, unknown>
  return exclusionOf(
    inField('calendars', () => readCalendars(calendars)),
    readWeekdays(weekend),
    readMove(move, offset),
  )
}

function readWeekdays(weekend: unknown): readonly number[] | undefined {
  if (weekend === undefined) return undefined
  return weekend === true ? SATURDAY_AND_SUNDAY : inField('weekend', () => readWeekend(weekend))
}

/** Splits names of days off into weekdays and names of calendars. */
export function splitDayNames<Name>(items: readonly Name[]): { calendars: Name[]; weekdays: number[] } {
  const weekdays = new Set<number>()
  const calendars = items.filter((item) => {
    const days = typeof item === 'string' ? weekdaysNamed(item.trim().toLowerCase()) : []
    for (const day of days) weekdays.add(day)
    return days.length === 0
  })
  return { calendars, weekdays: [...weekdays].sort((a, b) => a - b) }
}

function weekdaysNamed(name: string): readonly number[] {
  if (WEEKEND_WORDS.includes(name)) return SATURDAY_AND_SUNDAY
  const day = WEEKDAYS.get(name)
  return day === undefined ? [] : [day]
}

function exclusionOf(
  calendars: string[],
  weekend: readonly number[] | undefined,
  moves: Pick<Exclusion, 'move' | 'offset'>,
): Exclusion | undefined {
  const hasWeekend = weekend !== undefined && weekend.length > 0
  if (calendars.length === 0 && !hasWeekend) {
    if (moves.move === undefined) return undefined
    throw new WakefulError('exclude.move_without_days', {}, { field: 'move' })
  }
  return {
    ...(calendars.length > 0 && { calendars }),
    // An empty weekend has a meaning only with `move`.
    ...(weekend && (hasWeekend || moves.move) && { weekend: [...weekend] }),
    ...moves,
  }
}

function readCalendars(input: unknown = []): string[] {
  const names: unknown = typeof input === 'string' ? [input] : input
  if (!Array.isArray(names)) throw malformedError(input)
  for (const name of names) {
    if (isCalendarName(name)) continue
    throw new WakefulError('calendar.name', { name: quote(name) })
  }
  if (names.length > CALENDARS_MAX)
    throw new WakefulError('field.too_many', { count: names.length, unit: 'calendars', max: CALENDARS_MAX })
  return [...new Set(names as string[])].sort()
}

function readMove(move: unknown, offset: unknown): Pick<Exclusion, 'move' | 'offset'> {
  if (move !== undefined && move !== 'next' && move !== 'previous') {
    throw new WakefulError('field.not_one_of', { allowed: MOVES, value: quote(move) }, { field: 'move' })
  }
  if (offset === undefined) return move === undefined ? {} : { move }
  const days = assertWhole('offset', offset, [-OFFSET_MAX, OFFSET_MAX])
  if (move === undefined)
    throw new WakefulError('field.needs', { other: 'exclude.move' }, { field: 'offset' })
  return { move, ...(days !== 0 && { offset: days }) }
}

/** Merges the exclusion in a phrase with the option `exclude`; two different moves are rejected. */
export function mergeExclusions(phrase: Exclusion, option: Exclusion = {}, text: string): Exclusion {
  const withMove = [phrase, option].filter(({ move }) => move !== undefined)
  const [one, other] = withMove.map(({ move, offset = 0 }) => `${move} ${offset}`)
  if (other !== undefined && one !== other) {
    throw new WakefulError('exclude.moves_twice', { text: quote(text) }, { field: 'exclude.move' })
  }
  const calendars = union(phrase.calendars, option.calendars).sort()
  const weekend = union(phrase.weekend, option.weekend).sort((a, b) => a - b)
  const { move, offset } = withMove[0] ?? {}
  return {
    ...(calendars.length > 0 && { calendars }),
    ...((phrase.weekend ?? option.weekend) && { weekend }),
    ...(move && { move }),
    ...(offset && { offset }),
  }
}

function union<Item>(some: readonly Item[] = [], more: readonly Item[] = []): Item[] {
  return [...new Set([...some, ...more])]
}

/**
 * A stored exclusion as input. An exclusion with `move` and no weekend becomes one with an empty weekend; otherwise the
 * default weekend would be added.
 */
export function toExcludeInput({
  calendars,
  weekend = [],
  ...movement
}: Exclusion): Omit<Exclusion, 'weekend'> & { weekend?: string[] } {
  const names = weekend.map((day) => WEEKDAY_NAMES[day - 1]!.slice(0, 3).toLowerCase())
  return {
    ...(calendars && { calendars }),
    ...((names.length > 0 || movement.move) && { weekend: names }),
    ...movement,
  }
}

function malformedError(input: unknown): WakefulError {
  return new WakefulError('exclude.malformed', { value: quote(input) })
}
