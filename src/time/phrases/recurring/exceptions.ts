import { isCalendarName } from '../../calendars/index.ts'
import { MONTHS, NUMBERS, ordinal, RECURRING, UNITS, WEEKDAYS } from '../../text/index.ts'
import { parseIso } from '../../zones/index.ts'
import { readAmount } from '../relative.ts'
import { andLength, readWeekdays } from './days.ts'
import { DAY_PART_WORDS } from './frequency.ts'
import { type Clause, type ParsedRecurrence, type PhraseInput, refusal } from './parsed.ts'
import { isClock } from './times.ts'

/** Words of the grammar, which end a list of calendars. */
const RESERVED = new Set(
  'at on in of for from to until till through thru starting beginning ending between except excluding and the now next this coming first second third fourth fifth last other half quarter once twice thrice times occurrences today tomorrow tonight working business workday workdays fortnightly bimonthly quarterly'.split(
    ' ',
  ),
)

/** Parses 'except sunday', 'except on weekends', 'excluding us-holidays and company'. */
export function readExcept(words: string[], phrase: PhraseInput): Clause | null {
  if (words[0] !== 'except' && words[0] !== 'excluding') return null
  const lead = words[1] === 'on' || words[1] === 'for' ? 2 : 1
  const weekdays = new Set<number>()
  const calendars = new Set<string>()
  let used = words[lead] === 'the' ? lead + 1 : lead
  for (let first = true; ; first = false) {
    const and = first ? 0 : andLength(words[used])
    const days = readWeekdays(words.slice(used + and))
    const name = words[used + and]
    if (days !== null) {
      if (days.parts.workingDays)
        throw refusal(phrase, "working days cannot be an exception. Use 'every weekend'")
      for (const day of days.parts.weekdays) weekdays.add(day)
      used += and + days.used
    } else if (isNameInPhrase(name)) {
      calendars.add(name!)
      used += and + 1
    } else break
  }
  if (weekdays.size + calendars.size === 0) {
    throw refusal(phrase, "it does not name an exception. Use 'except sunday', or the name of a calendar")
  }
  return {
    parts: {
      ...(weekdays.size > 0 && { except: [...weekdays].sort((a, b) => a - b) }),
      ...(calendars.size > 0 && { calendars: [...calendars].sort() }),
    },
    used,
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
export function resolveExceptions(parsed: ParsedRecurrence): ParsedRecurrence {
  const { except, frequency, weekdays, monthDays, nths, months, workingDay, quarter } = parsed
  const byDays =
    frequency !== undefined &&
    ('everyMs' in frequency ||
      frequency.unit === 'week' ||
      (frequency.unit === 'day' && frequency.interval === 1))
  const named = frequency ?? monthDays ?? nths ?? months ?? workingDay ?? quarter
  if (except === undefined || weekdays !== undefined || byDays || named === undefined) return parsed
  const { except: _except, ...rest } = parsed
  return { ...rest, exceptedDays: except }
}
