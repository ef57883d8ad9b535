import { WakefulError } from '../../../error.ts'
import {
  mergeExclusions,
  toExcludeInput,
  weekendForWorkingDays,
  withStoredWeekend,
} from '../../calendars/index.ts'
import { NUMBERS, RECURRING, TEXT_LENGTH_MAX, wordsOf } from '../../text/index.ts'
import { type PhraseContext, PhraseInput } from '../phrase-input.ts'
import { workingDayLength } from '../working-days.ts'
import { readBound } from './bound.ts'
import { after, isWeekdayRange, readDays, readMonths } from './days.ts'
import {
  exclusionOf,
  readExcept,
  resolveEveryWorkingDay,
  resolveExceptions,
  resolveNthWorkingDay,
} from './days-off.ts'
import { canonicalPhrase } from './description.ts'
import { DAY_PART_WORDS, readFrequency } from './frequency.ts'
import { type Clause, merge, notUnderstood, type ParsedRecurrence } from './parsed.ts'
import { resolveRecurrence } from './resolve.ts'
import { type RuleText, ruleOf } from './rule.ts'
import { readClocks, readWindow } from './times.ts'

/** A parsed recurring phrase: a when, its canonical form, and notes about what it left open. */
export type RecurringPhrase = RuleText & {
  /** Bounds are ISO wall times of the zone. */
  start?: string
  end?: string
  count?: number
  /** The exclusions of the phrase and of the options beside it, merged. */
  exclude?: ReturnType<typeof toExcludeInput>
  /** The phrase in canonical form; parsed again, it gives the same when. */
  canonical: string
  notes: string[]
}

/**
 * Parses a recurring phrase; null if no word makes it recur, so that the caller can try a phrase for one instant. Every
 * word must be understood; otherwise the phrase is refused with the unknown words.
 */
export function parseRecurring(text: string, context: PhraseContext): RecurringPhrase | null {
  if (text.length > TEXT_LENGTH_MAX) return null
  const words = wordsOf(text)
  if (!recurs(words)) return null
  const phrase = new PhraseInput(text, context)
  const parsed = readClauses(words, phrase)
  resolveExceptions(parsed)
  const { calendars } = parsed
  const named = mergeExclusions({ ...(calendars && { calendars }) }, context.exclude, text)
  const weekend = weekendForWorkingDays(named, context.calendars)
  resolveEveryWorkingDay(parsed, weekend, phrase)
  resolveNthWorkingDay(parsed, phrase)
  const recurrence = resolveRecurrence(parsed, phrase)
  const rule = ruleOf(recurrence, phrase)
  const united = mergeExclusions(exclusionOf(parsed, weekend), context.exclude, text)
  const exclude = toExcludeInput(withStoredWeekend(united, context.calendars))
  const hasWorkingDays = (parsed.workingDays ?? parsed.workingDay) !== undefined
  if (hasWorkingDays && weekend?.join() === '6,7' && named.calendars === undefined) {
    phrase.notes.push('working days are Monday to Friday; exclude a calendar to leave out holidays')
  }
  const { start, end, count } = recurrence
  return {
    ...rule.when,
    // An rrule has its start in DTSTART.
    ...(start !== undefined && !('rrule' in rule.when) && { start }),
    ...(end !== undefined && { end }),
    ...(count !== undefined && { count }),
    ...(Object.keys(exclude).length > 0 && { exclude }),
    canonical: canonicalPhrase(recurrence, rule.anchor),
    notes: [...new Set(phrase.notes)],
  }
}

/** Whether any words make the phrase recur: 'every', 'mondays', 'mon-fri', 'of the month', 'twice a day'. */
function recurs(words: string[]): boolean {
  return words.some((word, index) => {
    const [next, after] = [words[index + 1], words[index + 2]]
    if (RECURRING.has(word) || ['bimonthly', 'quarterly'].includes(word)) return true
    if (word === 'of' && next === 'the' && after === 'month' && words[index - 1] !== 'end') return true
    const working = workingDayLength(words.slice(index))
    if (working > 0 && recursByWorkingDays(words, index, working)) return true
    const often = word === 'once' || word === 'twice' || word === 'thrice' || word === 'times'
    if (often && (next === 'a' || next === 'an' || next === 'per')) return true
    return isWeekdayRange(words.slice(index, index + 3))
  })
}

/** 'working days at 9am' and 'last working day of the year' recur; 'in 3 working days' and 'next working day' do not. */
function recursByWorkingDays(words: string[], index: number, used: number): boolean {
  const before = words[index - 1] ?? ''
  const [of, the, whole = ''] = words.slice(index + used)
  if (of === 'of' && the === 'the' && (whole === 'quarter' || whole === 'year')) return true
  return words[index + used - 1]!.endsWith('s') && !/^\d/.test(before) && !NUMBERS.has(before)
}

function readClauses(words: string[], phrase: PhraseInput): ParsedRecurrence {
  const parsed: ParsedRecurrence = {}
  const unknown: string[] = []
  for (let index = 0; index < words.length; ) {
    const clause = readClause(words.slice(index), phrase)
    if (clause === null) {
      unknown.push(words[index]!)
      index += 1
      continue
    }
    merge(parsed, clause.parts, phrase)
    index += clause.used
  }
  if (unknown.length > 0) throw notUnderstood(phrase, unknown)
  return parsed
}

function readClause(words: string[], phrase: PhraseInput): Clause | null {
  return (
    readFrequency(words, phrase) ??
    readMinutePast(words) ??
    readWindow(words) ??
    (words[0] === 'from' && isWeekdayRange(words.slice(1)) ? after(1, readDays(words.slice(1))) : null) ??
    readBound(words, phrase) ??
    readClocks(words) ??
    readDayPart(words) ??
    readScope(words, phrase) ??
    readExcept(words, phrase) ??
    (words[0] === 'on' ? after(1, readDays(words.slice(1))) : readBareDays(words))
  )
}

/** Parses 'mondays', 'the last friday'; 'weekday' alone is ambiguous: the next one, or each. */
function readBareDays(words: string[]): Clause | null {
  if (words[0] !== 'weekday' && words[0] !== 'weekend') return readDays(words)
  const forms = [`every ${words[0]}`, words[0] === 'weekday' ? 'next monday' : 'next saturday']
  throw new WakefulError('phrase.ambiguous', { word: words[0], forms })
}

/** Parses 'of every month', 'of the month', 'in december'. */
function readScope(words: string[], phrase: PhraseInput): Clause | null {
  if (words[0] !== 'of' && words[0] !== 'in') return null
  const [, second, third] = words
  if (third === 'quarter' && (second === 'every' || second === 'each' || second === 'the')) {
    return { parts: { quarter: true }, used: 3 }
  }
  if (second === 'every' || second === 'each') return { parts: {}, used: 1 }
  if (second === 'the' && third === 'year')
    return { parts: { frequency: { unit: 'year', interval: 1 } }, used: 3 }
  if (second === 'the' && third === 'month') {
    phrase.notes.push("'the month' is read as every month")
    return { parts: { frequency: { unit: 'month', interval: 1 } }, used: 3 }
  }
  return after(1, readMonths(words.slice(1)))
}

/** Parses 'monday morning', 'in the evening', 'at night'. */
function readDayPart(words: string[]): Clause | null {
  const lead = words[0] === 'in' && words[1] === 'the' ? 2 : words[0] === 'at' || words[0] === 'in' ? 1 : 0
  const dayPart = DAY_PART_WORDS.get(words[lead] ?? '')
  return dayPart === undefined ? null : { parts: { dayPart }, used: lead + 1 }
}

/** Parses 'on the hour', 'on the half hour', 'at :15'. */
function readMinutePast(words: string[]): Clause | null {
  if (words.slice(0, 3).join(' ') === 'on the hour') return { parts: { minutePast: 0 }, used: 3 }
  if (words.slice(0, 4).join(' ') === 'on the half hour') return { parts: { minutePast: 30 }, used: 4 }
  const at = words[0] === 'at' ? 1 : 0
  const minute = /^:([0-5]\d)$/.exec(words[at] ?? '')
  return minute === null ? null : { parts: { minutePast: Number(minute[1]) }, used: at + 1 }
}
