import { WakefulError } from '../../../error.ts'
import { correctionsOf, looksLikeZone, quote } from '../../text/index.ts'
import type { ParsedDate } from '../date.ts'
import type { PhraseInput } from '../phrase-input.ts'
import type { ClockWord, DayPart } from '../time-of-day.ts'

/** The calendar unit of a frequency. */
export type CalendarUnit = 'day' | 'week' | 'month' | 'year'

/** A number of calendar units. */
export interface CalendarFrequency {
  unit: CalendarUnit
  interval: number
}

/** How often: a fixed length of time, or a number of calendar units. */
export type Frequency = { everyMs: number } | CalendarFrequency

/** A day of a month: its number, or one relative to its start or end; weekdays are Monday to Friday. */
export type MonthDay = number | 'last' | 'first weekday' | 'last weekday'

/** The nth weekday of a month, such as 'first monday'; -1 is the last. */
export interface NthWeekday {
  nth: number
  weekday: number
}

/** The days that a phrase names. Monday is 1, January is 1. */
export interface ParsedDays {
  weekdays?: number[] | undefined
  nths?: NthWeekday[] | undefined
  monthDays?: MonthDay[] | undefined
  months?: number[] | undefined
}

/** A start or an end as written: an ISO time, or a date, a time of day, or both. */
export interface ParsedBound {
  word: string
  iso?: string
  date?: ParsedDate
  clock?: ClockWord
}

/** The parts of a recurring phrase, before it is checked that they fit together. */
export interface ParsedRecurrence extends ParsedDays {
  frequency?: Frequency
  /** Weekdays removed from the named ones. */
  except?: number[] | undefined
  /** Excepted weekdays of a frequency without weekdays: they become days off. */
  exceptedDays?: number[] | undefined
  /** Names of excepted calendars. */
  calendars?: string[]
  /** The weekdays were written as 'working days'. */
  workingDays?: true | undefined
  /** The nth working day of a month, such as 'third working day'; -1 is the last. */
  workingDay?: number
  /** The phrase has 'of the quarter'. */
  quarter?: true
  clocks?: ClockWord[] | undefined
  window?: [ClockWord, ClockWord]
  dayPart?: DayPart
  minutePast?: number
  start?: ParsedBound
  end?: ParsedBound
  /** `hasFor` if 'for' precedes it, so that it cannot mean how often within a day. */
  count?: { times: number; hasFor: boolean }
}

/** The parts of one clause of a phrase, and how many words it used. */
export interface Clause {
  parts: ParsedRecurrence
  used: number
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

/** All weekdays. */
export const EVERY_DAY = [1, 2, 3, 4, 5, 6, 7]

/** Whether a frequency can be limited to weekdays: every day, or a length of time. */
export function isDaily(frequency: Frequency | undefined): boolean {
  if (frequency === undefined) return false
  return 'everyMs' in frequency || (frequency.unit === 'day' && frequency.interval === 1)
}

const WORDS_QUOTED_MAX = 5
const WORD_LENGTH_MAX = 20

/** Adds the parts of a clause; a part that occurs twice is refused, because one of them would be ignored. */
export function merge(whole: ParsedRecurrence, clause: ParsedRecurrence, phrase: PhraseInput): void {
  for (const [part, value] of Object.entries(clause)) {
    const name = part as keyof ParsedRecurrence
    if (value === undefined) continue
    phrase.refuseIf(whole[name] !== undefined, 'phrase.part_twice', { part: PARTS[name] })
    Object.assign(whole, { [name]: value })
  }
}

/** The error that refuses a phrase with unknown words. */
export function notUnderstood(phrase: PhraseInput, words: string[]): WakefulError {
  return new WakefulError('phrase.recurring_not_understood', {
    text: quote(phrase.text),
    words: words.slice(0, WORDS_QUOTED_MAX).map((word) => `'${word.slice(0, WORD_LENGTH_MAX)}'`),
    corrections: correctionsOf(words),
    zone: words.some(looksLikeZone),
    joined: words.includes('and'),
  })
}
