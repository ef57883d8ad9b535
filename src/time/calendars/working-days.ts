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
export function workingWeekend(
  { calendars = [], weekend }: Exclusion,
  find: CalendarLookup | undefined,
): readonly number[] | null {
  if (weekend !== undefined) return weekend
  const own = calendars.some((name) => (find?.(name)?.weekend.length ?? 0) > 0)
  return own ? null : DEFAULT_WEEKEND
}

/**
 * The exclusion as a rule stores it. With `move` and no weekend, Saturday and Sunday are off too. The weekend is stored
 * when the rule is set, so that later edits of calendars do not change its meaning.
 */
export function withWorkingWeekend(exclude: Exclusion, find: CalendarLookup | undefined): Exclusion {
  const { weekend: own, ...rest } = exclude
  const weekend = exclude.move === undefined ? own : workingWeekend(exclude, find)
  return { ...rest, ...(weekend?.length && { weekend: [...weekend] }) }
}

/** The days that are no working days, under the exclusion beside a phrase. */
export function nonWorkingDays(exclude: Exclusion | undefined, find: CalendarLookup | undefined): DaysOff {
  const { calendars } = exclude ?? {}
  const weekend = workingWeekend(exclude ?? {}, find)
  return daysOffOf({ ...(calendars && { calendars }), ...(weekend && { weekend: [...weekend] }) }, find)
}

/** Merges the exclusion in a phrase with the one beside it; two different moves are refused. */
export function mergeExclusions(phrase: Exclusion, beside: Exclusion | undefined, text: string): Exclusion {
  const moves = [phrase, beside ?? {}].filter(({ move }) => move !== undefined)
  const [one, other] = moves.map(({ move, offset = 0 }) => `${move} ${offset}`)
  if (other !== undefined && one !== other) {
    throw new WakefulError('exclude.moves_twice', { text: quote(text) })
  }
  const calendars = both(phrase.calendars, beside?.calendars).sort()
  const weekend = both(phrase.weekend, beside?.weekend).sort((a, b) => a - b)
  const hasWeekend = (phrase.weekend ?? beside?.weekend) !== undefined
  return {
    ...(calendars.length > 0 && { calendars }),
    ...(hasWeekend && { weekend }),
    ...(moves[0]?.move && { move: moves[0].move }),
    ...(moves[0]?.offset && { offset: moves[0].offset }),
  }
}

function both<Item>(some: readonly Item[] = [], more: readonly Item[] = []): Item[] {
  return [...new Set([...some, ...more])]
}

/** A stored exclusion as input. No weekend beside a move means none, and not the default one. */
export function toExcludeInput({ calendars, weekend, ...moves }: Exclusion): {
  calendars?: string[]
  weekend?: string[]
  move?: 'next' | 'previous'
  offset?: number
} {
  return {
    ...(calendars && { calendars }),
    ...((weekend?.length || moves.move) && { weekend: (weekend ?? []).map((day) => SHORT[day - 1]!) }),
    ...moves,
  }
}
