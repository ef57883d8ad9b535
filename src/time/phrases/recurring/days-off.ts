import { WakefulError } from '../../../error.ts'
import { type Exclusion, isCalendarName } from '../../calendars/index.ts'
import { MONTHS, NUMBERS, ordinal, RECURRING, UNITS, WEEKDAYS } from '../../text/index.ts'
import { parseIso } from '../../zones/index.ts'
import { readAmount } from '../amount.ts'
import type { PhraseInput } from '../phrase-input.ts'
import { isClock } from '../time-of-day.ts'
import { readList, readWeekdays } from './days.ts'
import { DAY_PART_WORDS } from './frequency.ts'
import { type Clause, EVERY_DAY, isDaily, type ParsedRecurrence } from './parsed.ts'

/** Every month has more working days than this in every country. */
const NTH_MAX = 15
/** Words of the grammar, which end a list of calendars. */
const RESERVED = new Set(
  'at on in of for from to until till through thru starting beginning ending between except excluding and the now next this coming first second third fourth fifth last other half quarter once twice thrice times occurrences today tomorrow tonight working business workday workdays fortnightly bimonthly quarterly'.split(
    ' ',
  ),
)

/** Parses 'except sunday', 'except on weekends', 'excluding us-holidays and company'. */
export function readExcept(words: string[], phrase: PhraseInput): Clause | null {
  if (words[0] !== 'except' && words[0] !== 'excluding') return null
  const joint = words[1] === 'on' || words[1] === 'for' ? 2 : 1
  const lead = words[joint] === 'the' ? joint + 1 : joint
  const weekdays = new Set<number>()
  const calendars = new Set<string>()
  const used = readList(words.slice(lead), (rest) => {
    const days = readWeekdays(rest)
    phrase.refuseIf(days?.parts.workingDays, 'phrase.except_working_days', {})
    for (const day of days?.parts.weekdays ?? []) weekdays.add(day)
    if (days !== null) return days.used
    if (!isNameInPhrase(rest[0])) return 0
    calendars.add(rest[0]!)
    return 1
  })
  phrase.refuseIf(used === 0, 'phrase.except_nothing', {})
  return {
    parts: {
      ...(weekdays.size > 0 && { except: [...weekdays].sort((a, b) => a - b) }),
      ...(calendars.size > 0 && { calendars: [...calendars].sort() }),
    },
    used: used + lead,
  }
}

/** Whether a word can be the name of a calendar in a phrase: one with another meaning there cannot. */
function isNameInPhrase(word: string | undefined): boolean {
  if (word === undefined || !isCalendarName(word) || !/[a-z]/.test(word)) return false
  const named = [MONTHS, NUMBERS, UNITS, WEEKDAYS, DAY_PART_WORDS, RECURRING, RESERVED]
  if (named.some((words) => words.has(word))) return false
  return (
    !isClock(word, true) && ordinal(word) === null && parseIso(word) === null && readAmount([word]) === null
  )
}

/** Turns excepted weekdays into days off if the frequency has no weekdays, as in 'the 1st of every month'. */
export function resolveExceptions(parsed: ParsedRecurrence): void {
  const { except, frequency, weekdays, monthDays, nths, months, workingDay, quarter } = parsed
  const byWeek = frequency !== undefined && 'unit' in frequency && frequency.unit === 'week'
  const named = frequency ?? monthDays ?? nths ?? months ?? workingDay ?? quarter
  if (weekdays !== undefined || byWeek || isDaily(frequency) || named === undefined) return
  parsed.exceptedDays = except
  parsed.except = undefined
}

/** Resolves 'every working day': all weekdays outside the weekend, or all seven if a calendar has its own weekend. */
export function resolveEveryWorkingDay(
  parsed: ParsedRecurrence,
  weekend: readonly number[] | null,
  phrase: PhraseInput,
): void {
  if (!parsed.workingDays) return
  if (parsed.weekdays?.join() === '1,2,3,4,5') {
    parsed.weekdays = EVERY_DAY.filter((day) => !weekend?.includes(day))
  } else if (weekend?.join() === '6,7') {
    parsed.workingDays = undefined
  } else {
    throw phrase.refusal('phrase.mixed_working_days', {})
  }
}

/** Resolves 'third working day of the month' to the 1st or last day, from which `exclusionOf` moves it. */
export function resolveNthWorkingDay(parsed: ParsedRecurrence, phrase: PhraseInput): void {
  const { workingDay: nth, quarter, frequency } = parsed
  if (nth === undefined) {
    if (!quarter) return
    throw phrase.refusal('phrase.quarter_without_working_day', {})
  }
  if (parsed.weekdays ?? parsed.nths ?? parsed.monthDays) {
    throw phrase.refusal('phrase.combined_days', { day: 'working day' })
  }
  const isLast = nth === -1
  phrase.refuseIf(!isLast && (nth < 1 || nth > NTH_MAX), 'phrase.too_few_working_days', { nth, max: NTH_MAX })
  phrase.refuseIf((parsed.clocks?.length ?? 0) > 1, 'phrase.one_time_of_day', { day: 'working day' })
  if (quarter) parsed.months = isLast ? [3, 6, 9, 12] : [1, 4, 7, 10]
  else if (frequency !== undefined && 'unit' in frequency && frequency.unit === 'year') {
    parsed.months ??= [isLast ? 12 : 1]
  }
  if (parsed.months === undefined && frequency === undefined) {
    const forms = ['last working day of every month', 'every working day']
    throw new WakefulError('phrase.ambiguous', { word: 'working day', forms })
  }
  parsed.monthDays = [isLast ? 'last' : 1]
}

/** The exclusion of a phrase; `weekend` is the one that working days exclude. */
export function exclusionOf(parsed: ParsedRecurrence, weekend: readonly number[] | null): Exclusion {
  const { calendars, exceptedDays = [], workingDay: nth } = parsed
  const all = [...new Set([...exceptedDays, ...((nth !== undefined && weekend) || [])])]
  return {
    ...(calendars && { calendars }),
    ...(all.length > 0 && { weekend: all }),
    ...(nth !== undefined && { move: nth === -1 ? 'previous' : 'next' }),
    ...(nth !== undefined && nth > 1 && { offset: nth - 1 }),
  }
}
