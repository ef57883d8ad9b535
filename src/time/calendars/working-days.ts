import { WakefulError } from '../../error.ts'
import { quote } from '../text/index.ts'
import type { DaysOff } from './days-off.ts'
import { type CalendarLookup, daysOffOf, type Exclusion } from './exclusion.ts'

/** The weekend where nobody says another. */
const USUAL_WEEKEND: readonly number[] = [6, 7]

const SHORT = 'mon tue wed thu fri sat sun'.split(' ')

/**
 * The weekend that 'working day' leaves out: the one given, or Saturday and Sunday. Null where a calendar that is
 * named has one of its own, which then holds.
 */
export function workingWeekend(
  { calendars = [], weekend }: Exclusion,
  find: CalendarLookup | undefined,
): readonly number[] | null {
  if (weekend !== undefined) return weekend
  const own = calendars.some((name) => (find?.(name)?.weekend.length ?? 0) > 0)
  return own ? null : USUAL_WEEKEND
}

/**
 * An exclusion as a rule keeps it. With `move`, where nobody says a weekend, Saturday and Sunday are off too: written
 * down when it is set, so that what is stored keeps its meaning whatever becomes of the calendars.
 */
export function withWorkingWeekend(exclude: Exclusion, find: CalendarLookup | undefined): Exclusion {
  const { weekend: own, ...rest } = exclude
  const weekend = exclude.move === undefined ? own : workingWeekend(exclude, find)
  return { ...rest, ...(weekend?.length && { weekend: [...weekend] }) }
}

/** The days that are no working days, with what is excluded beside a phrase. */
export function nonWorkingDays(exclude: Exclusion | undefined, find: CalendarLookup | undefined): DaysOff {
  const { calendars } = exclude ?? {}
  const weekend = workingWeekend(exclude ?? {}, find)
  return daysOffOf({ ...(calendars && { calendars }), ...(weekend && { weekend: [...weekend] }) }, find)
}

/** What a phrase excludes and what is excluded beside it, together; two ways to move are refused. */
export function mergeExclusions(phrase: Exclusion, beside: Exclusion | undefined, text: string): Exclusion {
  const moves = [phrase, beside ?? {}].filter(({ move }) => move !== undefined)
  const [one, other] = moves.map(({ move, offset = 0 }) => `${move} ${offset}`)
  if (other !== undefined && one !== other) {
    throw new WakefulError(
      'invalid_request',
      `${quote(text)} says where it moves, and so does exclude, otherwise: give one`,
    )
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

/** A kept exclusion as users would write it: no weekend beside a move is none, not the usual one. */
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
