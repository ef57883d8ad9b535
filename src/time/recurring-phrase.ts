import { RECURRING, wordsOf } from './phrase-words.ts'
import { readBound } from './recurring-phrase-bound.ts'
import { isWeekdayRange, readDays, readMonths, readWeekdays } from './recurring-phrase-days.ts'
import { DAY_PART_WORDS, readPace } from './recurring-phrase-pace.ts'
import { ruleOf } from './recurring-phrase-rule.ts'
import {
  merge,
  notUnderstood,
  type ReadClause,
  refusal,
  type SaidRecurrence,
} from './recurring-phrase-said.ts'
import { settle } from './recurring-phrase-settle.ts'
import { readClocks, readWindow } from './recurring-phrase-time.ts'
import { wordingOf } from './recurring-phrase-wording.ts'
import { TEXT_LENGTH_MAX } from './text.ts'
import { zoned } from './wall-time.ts'

/** The parts of a when that a recurring phrase can say. Bounds are ISO wall times of the zone. */
export type RecurringPhraseWhen = ({ cron: string } | { every: string } | { rrule: string }) & {
  start?: string
  end?: string
  count?: number
}

/** A recurring phrase that was understood: a when, the same in plain words, and what was not said but taken. */
export type RecurringPhrase = RecurringPhraseWhen & {
  /** The phrase brought to one form; read again, it gives the same when. */
  wording: string
  notes: string[]
}

/**
 * Reads a plain-language recurrence; null where no word says that something comes again, so that one-shots may be
 * tried. Every word must be understood, or the phrase is refused with the words that were not.
 */
export function parseRecurring(
  text: string,
  context: { now: number; timezone: string },
): RecurringPhrase | null {
  if (text.length > TEXT_LENGTH_MAX) return null
  const words = wordsOf(text)
  if (!recurs(words)) return null
  const here = zoned(context.timezone, context.now)
  const notes: string[] = []
  const said = readClauses(words, here, text, notes)
  const recurrence = settle(said, here, text, notes)
  const rule = ruleOf(recurrence, here, text, notes)
  const { start, end, count } = recurrence
  return {
    ...rule.when,
    // The first instant of an rrule stands in it, and says where to start.
    ...(start !== undefined && !('rrule' in rule.when) && { start }),
    ...(end !== undefined && { end }),
    ...(count !== undefined && { count }),
    wording: wordingOf(recurrence, rule.anchor),
    notes: [...new Set(notes)],
  }
}

/** Whether any word says that something comes again: 'every', 'mondays', 'mon-fri', 'of the month', 'twice a day'. */
function recurs(words: string[]): boolean {
  return words.some((word, index) => {
    const [next, after] = [words[index + 1], words[index + 2]]
    if (RECURRING.has(word) || ['bimonthly', 'quarterly'].includes(word)) return true
    if (word === 'of' && next === 'the' && after === 'month') return true
    const often = word === 'once' || word === 'twice' || word === 'thrice' || word === 'times'
    if (often && (next === 'a' || next === 'an' || next === 'per')) return true
    return isWeekdayRange(words.slice(index, index + 3))
  })
}

function readClauses(
  words: string[],
  here: Temporal.ZonedDateTime,
  text: string,
  notes: string[],
): SaidRecurrence {
  const said: SaidRecurrence = {}
  const unknown: string[] = []
  for (let index = 0; index < words.length; ) {
    const clause = readClause(words.slice(index), here, text)
    if (clause === null) {
      unknown.push(words[index]!)
      index += 1
      continue
    }
    merge(said, clause.said, text)
    if (clause.note !== undefined) notes.push(clause.note)
    index += clause.used
  }
  if (unknown.length > 0) throw notUnderstood(text, unknown)
  return said
}

function readClause(words: string[], here: Temporal.ZonedDateTime, text: string): ReadClause | null {
  return (
    readPace(words, text) ??
    readMinutePast(words) ??
    readWindow(words) ??
    (words[0] === 'from' && isWeekdayRange(words.slice(1)) ? plus(1, readDays(words.slice(1))) : null) ??
    readBound(words, here, text) ??
    readClocks(words) ??
    readDayPart(words) ??
    readScope(words) ??
    readExcept(words, text) ??
    (words[0] === 'on' ? plus(1, readDays(words.slice(1))) : readBareDays(words, text))
  )
}

/** 'mondays', 'the last friday'; but 'weekday' alone may be the next one, or each. */
function readBareDays(words: string[], text: string): ReadClause | null {
  if (words[0] !== 'weekday' && words[0] !== 'weekend') return readDays(words)
  throw refusal(
    text,
    `'${words[0]}' alone may be one or each: say 'every ${words[0]}' or the name of the day`,
  )
}

/** 'of every month', 'of the month', 'in december'. */
function readScope(words: string[]): ReadClause | null {
  if (words[0] !== 'of' && words[0] !== 'in') return null
  const [, second, third] = words
  if (second === 'every' || second === 'each') return { said: {}, used: 1 }
  if (second === 'the' && third === 'month') {
    const note = "'the month' is read as every month"
    return { said: { pace: { unit: 'month', interval: 1 } }, used: 3, note }
  }
  return plus(1, readMonths(words.slice(1)))
}

/** 'monday morning', 'in the evening', 'at night'. */
function readDayPart(words: string[]): ReadClause | null {
  const lead = words[0] === 'in' && words[1] === 'the' ? 2 : words[0] === 'at' || words[0] === 'in' ? 1 : 0
  const dayPart = DAY_PART_WORDS.get(words[lead] ?? '')
  return dayPart === undefined ? null : { said: { dayPart }, used: lead + 1 }
}

/** 'on the hour', 'on the half hour', 'at :15'. */
function readMinutePast(words: string[]): ReadClause | null {
  if (words.slice(0, 3).join(' ') === 'on the hour') return { said: { minutePast: 0 }, used: 3 }
  if (words.slice(0, 4).join(' ') === 'on the half hour') return { said: { minutePast: 30 }, used: 4 }
  const at = words[0] === 'at' ? 1 : 0
  const minute = /^:([0-5]\d)$/.exec(words[at] ?? '')
  return minute === null ? null : { said: { minutePast: Number(minute[1]) }, used: at + 1 }
}

/** 'except sunday', 'except on weekends'. */
function readExcept(words: string[], text: string): ReadClause | null {
  if (words[0] !== 'except') return null
  const lead = words[1] === 'on' || words[1] === 'for' ? 2 : 1
  const days = readWeekdays(words.slice(lead))
  if (days !== null) return { said: { except: days.said.weekdays }, used: lead + days.used }
  throw refusal(
    text,
    "only weekdays can be excepted in plain language: say 'except sunday'; holidays it does not know",
  )
}

function plus(words: number, clause: ReadClause | null): ReadClause | null {
  return clause === null ? null : { ...clause, used: clause.used + words }
}
