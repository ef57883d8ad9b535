import type { Exclusion } from '../../calendars/index.ts'
import { type ParsedRecurrence, type PhraseInput, refusal } from './parsed.ts'

const EVERY_DAY = [1, 2, 3, 4, 5, 6, 7]
/** Every month has more working days than this in every country. */
const NTH_MAX = 15

/** Resolves 'every working day': all weekdays outside the weekend, or all seven if a calendar has its own weekend. */
export function resolveEveryWorkingDay(
  parsed: ParsedRecurrence,
  weekend: readonly number[] | null,
  phrase: PhraseInput,
): ParsedRecurrence {
  if (!parsed.workingDays) return parsed
  if (parsed.weekdays?.join() === '1,2,3,4,5') {
    return { ...parsed, weekdays: EVERY_DAY.filter((day) => !weekend?.includes(day)) }
  }
  const { workingDays: _workingDays, ...named } = parsed
  if (weekend?.join() === '6,7') return named
  throw refusal(phrase, 'it mixes working days with other days under another weekend. Name all the days')
}

/** Resolves 'third working day of the month' to the 1st or last day, from which `exclusionOf` moves it. */
export function resolveNthWorkingDay(parsed: ParsedRecurrence, phrase: PhraseInput): ParsedRecurrence {
  const { workingDay: nth, quarter, ...rest } = parsed
  if (nth === undefined) {
    if (!quarter) return rest
    throw refusal(
      phrase,
      "a quarter goes with working days. Use 'every 3 months on the 1st starting 2027-01-01'",
    )
  }
  if (rest.weekdays ?? rest.nths ?? rest.monthDays) {
    throw refusal(phrase, 'it has a working day of the month and other days. Set an alarm for each')
  }
  if (nth !== -1 && (nth < 1 || nth > NTH_MAX)) {
    throw refusal(phrase, `not every month has ${nth} working days. Use 'first' to '${NTH_MAX}th', or 'last'`)
  }
  if ((parsed.clocks?.length ?? 0) > 1) {
    throw refusal(phrase, 'a working day of the month has one time of day. Set an alarm for each')
  }
  const months = monthsOf(rest, quarter, nth === -1)
  if (months === undefined && rest.frequency === undefined) {
    throw refusal(
      phrase,
      "a working day of what? Use 'last working day of every month', or 'every working day'",
    )
  }
  return { ...rest, workingDay: nth, monthDays: [nth === -1 ? 'last' : 1], ...(months && { months }) }
}

function monthsOf({ months, frequency }: ParsedRecurrence, quarter: true | undefined, last: boolean) {
  if (quarter) return last ? [3, 6, 9, 12] : [1, 4, 7, 10]
  const yearly = frequency !== undefined && 'unit' in frequency && frequency.unit === 'year'
  return months ?? (yearly ? [last ? 12 : 1] : undefined)
}

/** The exclusion of a phrase; `weekend` is the one that working days exclude. */
export function exclusionOf(parsed: ParsedRecurrence, weekend: readonly number[] | null): Exclusion {
  const { calendars, exceptedDays, workingDay: nth } = parsed
  const off = nth === undefined ? [] : (weekend ?? [])
  const all = [...new Set([...(exceptedDays ?? []), ...off])]
  return {
    ...(calendars && { calendars }),
    ...(all.length > 0 && { weekend: all }),
    ...(nth !== undefined && { move: nth === -1 ? 'previous' : 'next' }),
    ...(nth !== undefined && nth > 1 && { offset: nth - 1 }),
  }
}

/** The days off of a phrase, for its canonical form. */
export function daysOffParts(parsed: ParsedRecurrence): ParsedDaysOff {
  const { calendars, exceptedDays, workingDay, workingDays, except } = parsed
  return {
    ...(calendars && { calendars }),
    ...(exceptedDays && { exceptedDays }),
    ...(workingDay !== undefined && { workingDay }),
    ...(workingDays && except === undefined && { workingDays }),
  }
}

/** The parts of a phrase about days off. */
export type ParsedDaysOff = Pick<
  ParsedRecurrence,
  'calendars' | 'exceptedDays' | 'workingDay' | 'workingDays'
>

/** Whether the phrase has working days, and their weekend is Saturday and Sunday. */
export function usesDefaultWeekend(parsed: ParsedRecurrence, weekend: readonly number[] | null): boolean {
  const working = parsed.workingDays ?? parsed.workingDay
  return working !== undefined && weekend?.join() === '6,7'
}
