import { WakefulError } from '../../error.ts'
import { quote } from '../text/index.ts'
import type { DaysOff } from './days-off.ts'
import { type CalendarLookup, daysOffOf, type Exclusion } from './exclusion.ts'

/** Saturday and Sunday. */
const DEFAULT_WEEKEND: readonly number[] = [6, 7]

const SHORT = 'mon tue wed thu fri sat sun'.split(' ')

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
  return calendarHasWeekend ? null : DEFAULT_WEEKEND
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
export function nonWorkingDays(exclude: Exclusion | undefined, find: CalendarLookup | undefined): DaysOff {
  const { calendars } = exclude ?? {}
  const weekend = weekendForWorkingDays(exclude ?? {}, find)
  return daysOffOf({ ...(calendars && { calendars }), ...(weekend && { weekend: [...weekend] }) }, find)
}

/** Merges the exclusion in a phrase with the option `exclude`; two different moves are rejected. */
export function mergeExclusions(phrase: Exclusion, option: Exclusion | undefined, text: string): Exclusion {
  const withMove = [phrase, option ?? {}].filter(({ move }) => move !== undefined)
  const [one, other] = withMove.map(({ move, offset = 0 }) => `${move} ${offset}`)
  if (other !== undefined && one !== other) {
    throw new WakefulError('exclude.moves_twice', { text: quote(text) })
  }
  const calendars = union(phrase.calendars, option?.calendars).sort()
  const weekend = union(phrase.weekend, option?.weekend).sort((a, b) => a - b)
  const hasWeekend = (phrase.weekend ?? option?.weekend) !== undefined
  return {
    ...(calendars.length > 0 && { calendars }),
    ...(hasWeekend && { weekend }),
    ...(withMove[0]?.move && { move: withMove[0].move }),
    ...(withMove[0]?.offset && { offset: withMove[0].offset }),
  }
}

function union<Item>(some: readonly Item[] = [], more: readonly Item[] = []): Item[] {
  return [...new Set([...some, ...more])]
}

/**
 * A stored exclusion as input. An exclusion with `move` and no weekend becomes one with an empty weekend; otherwise the
 * default weekend would be added.
 */
export function toExcludeInput({ calendars, weekend, ...movement }: Exclusion): {
  calendars?: string[]
  weekend?: string[]
  move?: 'next' | 'previous'
  offset?: number
} {
  return {
    ...(calendars && { calendars }),
    ...((weekend?.length || movement.move) && { weekend: (weekend ?? []).map((day) => SHORT[day - 1]!) }),
    ...movement,
  }
}
