import { WakefulError } from '../../../error.ts'
import { looksLikeZone, quote } from '../../text/index.ts'
import type { ParsedDate } from '../date.ts'

/** The calendar unit of a frequency. */
export type CalendarUnit = 'day' | 'week' | 'month' | 'year'

/** How often: a fixed length of time, or a number of calendar units. */
export type Frequency = { everyMs: number } | { unit: CalendarUnit; interval: number }

/** A day of a month: its number, or one relative to its start or end; weekdays are Monday to Friday. */
export type MonthDay = number | 'last' | 'first weekday' | 'last weekday'

/** The nth weekday of a month, such as 'first monday'; -1 is the last. */
export interface NthWeekday {
  nth: number
  weekday: number
}

/** The days that a phrase names. Monday is 1, January is 1. */
export interface ParsedDays {
  weekdays?: number[]
  nths?: NthWeekday[]
  monthDays?: MonthDay[]
  months?: number[]
}

/** A time of day as written; its meaning may depend on the words around it. */
export interface ClockWord {
  word: string
  afterAt: boolean
}

/** A start or an end as written: an ISO time, or a date, a time of day, or both. */
export interface ParsedBound {
  word: string
  iso?: string
  date?: ParsedDate
  clock?: ClockWord
}

/** A part of the day, which distinguishes 8am from 8pm. */
export type DayPart = 'morning' | 'afternoon' | 'evening' | 'night'

/** The parts of a recurring phrase, before it is checked that they fit together. */
export interface ParsedRecurrence extends ParsedDays {
  frequency?: Frequency
  /** Weekdays removed from the named ones. */
  except?: number[]
  /** Excepted weekdays of a frequency without weekdays: they become days off. */
  exceptedDays?: number[]
  /** Names of excepted calendars. */
  calendars?: string[]
  /** The weekdays were written as 'working days'. */
  workingDays?: true
  /** The nth working day of a month, such as 'third working day'; -1 is the last. */
  workingDay?: number
  /** The phrase has 'of the quarter'. */
  quarter?: true
  clocks?: ClockWord[]
  window?: [ClockWord, ClockWord]
  dayPart?: DayPart
  minutePast?: number
  start?: ParsedBound
  end?: ParsedBound
  /** `hasFor` if 'for' precedes it, so that it cannot mean how often within a day. */
  count?: { times: number; hasFor: boolean }
}

/** The phrase that is parsed: its text, the local time now, and the notes about it so far. */
export interface PhraseInput {
  readonly text: string
  readonly localNow: Temporal.ZonedDateTime
  readonly notes: string[]
}

/** The parts of one clause of a phrase, and how many words it used. */
export interface Clause {
  parts: ParsedRecurrence
  used: number
  note?: string
}

const PARTS: Record<keyof ParsedRecurrence, string> = {
  frequency: 'recurrences',
  weekdays: 'sets of weekdays',
  nths: 'weekdays of the month',
  monthDays: 'days of the month',
  months: 'sets of months',
  except: 'exceptions',
  exceptedDays: 'exceptions',
  calendars: 'exceptions',
  workingDays: 'sets of weekdays',
  workingDay: 'working days of the month',
  quarter: 'recurrences',
  clocks: 'times of day',
  window: 'spans of the day',
  dayPart: 'parts of the day',
  minutePast: 'minutes of the hour',
  start: 'starts',
  end: 'ends',
  count: 'counts',
}

const WORDS_QUOTED_MAX = 5
const WORD_LENGTH_MAX = 20

/** Adds the parts of a clause; a part that occurs twice is refused, because one of them would be ignored. */
export function merge(whole: ParsedRecurrence, clause: ParsedRecurrence, phrase: PhraseInput): void {
  for (const part of Object.keys(clause) as (keyof ParsedRecurrence)[]) {
    if (whole[part] !== undefined) {
      throw refusal(phrase, `it has two ${PARTS[part]}. Use one, or set an alarm for each`)
    }
  }
  Object.assign(whole, clause)
}

/** The error that refuses a phrase, with the reason and a form that works. */
export function refusal(phrase: PhraseInput, detail: string): WakefulError {
  return new WakefulError('phrase.unsupported', { text: quote(phrase.text), detail })
}

/** The error that refuses a phrase that only a rule of this kind can express. */
export function needsRule(phrase: PhraseInput, detail: string, other: 'cron' | 'rrule'): WakefulError {
  return new WakefulError('phrase.needs_rule', { text: quote(phrase.text), detail, other })
}

/** The error that refuses a phrase with unknown words. */
export function notUnderstood(phrase: PhraseInput, words: string[]): WakefulError {
  return new WakefulError('phrase.recurring_not_understood', {
    text: quote(phrase.text),
    words: words.slice(0, WORDS_QUOTED_MAX).map((word) => `'${word.slice(0, WORD_LENGTH_MAX)}'`),
    zone: words.some(looksLikeZone),
    joined: words.includes('and'),
  })
}
