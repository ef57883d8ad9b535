import { WakefulError } from '../../../error.ts'
import { looksLikeZone, quote } from '../../text/index.ts'
import type { ParsedDate } from '../date.ts'

/** A unit of the calendar that a rule steps by. */
export type CalendarUnit = 'day' | 'week' | 'month' | 'year'

/** How often: a fixed length of time, or so many units of the calendar. */
export type Frequency = { everyMs: number } | { unit: CalendarUnit; interval: number }

/** A day of a month: its number, or one that is found from its ends; weekdays are Monday to Friday. */
export type MonthDay = number | 'last' | 'first weekday' | 'last weekday'

/** 'first monday': the nth of its month, -1 is the last. */
export interface NthWeekday {
  nth: number
  weekday: number
}

/** Which days a phrase named. Monday is 1, January is 1. */
export interface ParsedDays {
  weekdays?: number[]
  nths?: NthWeekday[]
  monthDays?: MonthDay[]
  months?: number[]
}

/** A time of day as it was written; what it means may hang on the words around it. */
export interface ClockWord {
  word: string
  afterAt: boolean
}

/** A start or an end as it was written: an ISO time, or a date, a time of day, or both. */
export interface ParsedBound {
  word: string
  iso?: string
  date?: ParsedDate
  clock?: ClockWord
}

/** A part of the day, which tells '8am' from '8pm'. */
export type DayPart = 'morning' | 'afternoon' | 'evening' | 'night'

/** Everything a recurring phrase said, part by part, before it is known whether the parts fit together. */
export interface ParsedRecurrence extends ParsedDays {
  frequency?: Frequency
  /** Weekdays taken from those that were said. */
  except?: number[]
  /** Weekdays excepted from a rhythm that they cannot be taken from: they are days off. */
  exceptedDays?: number[]
  /** Names of calendars whose days are excepted. */
  calendars?: string[]
  /** The weekdays were said as 'working days'. */
  workingDays?: true
  /** 'third working day': the nth of its month, -1 is the last. */
  workingDay?: number
  /** 'of the quarter'. */
  quarter?: true
  clocks?: ClockWord[]
  window?: [ClockWord, ClockWord]
  dayPart?: DayPart
  minutePast?: number
  start?: ParsedBound
  end?: ParsedBound
  /** `led` where 'for' stood in front, so that it cannot be how often within a day. */
  count?: { times: number; led: boolean }
}

/** What one clause of a phrase said, and how many words it took. */
export interface Clause {
  parts: ParsedRecurrence
  used: number
  note?: string
}

const PARTS: Record<keyof ParsedRecurrence, string> = {
  frequency: 'rhythms',
  weekdays: 'sets of weekdays',
  nths: 'weekdays of the month',
  monthDays: 'days of the month',
  months: 'sets of months',
  except: 'exceptions',
  exceptedDays: 'exceptions',
  calendars: 'exceptions',
  workingDays: 'sets of weekdays',
  workingDay: 'working days of the month',
  quarter: 'rhythms',
  clocks: 'times of day',
  window: 'spans of the day',
  dayPart: 'parts of the day',
  minutePast: 'minutes of the hour',
  start: 'starts',
  end: 'ends',
  count: 'counts',
}

const FORMS =
  "forms that work: 'every weekday at 9am', 'every 15 minutes between 9:00 and 17:00', 'every other tuesday at 9am', 'first monday of each month at 10:00', 'every year on december 24 at 18:00'"
const WORDS_QUOTED_MAX = 5
const WORD_LENGTH_MAX = 20

/** Adds what a clause said; a part that is said twice is refused, since one of them would be ignored. */
export function merge(whole: ParsedRecurrence, clause: ParsedRecurrence, text: string): void {
  for (const part of Object.keys(clause) as (keyof ParsedRecurrence)[]) {
    if (whole[part] !== undefined) {
      throw refusal(text, `it gives two ${PARTS[part]}: give one, or set an alarm for each`)
    }
  }
  Object.assign(whole, clause)
}

/** The refusal of a phrase, with the reason and what to say instead. */
export function refusal(text: string, why: string): WakefulError {
  return new WakefulError('invalid_time', `${quote(text)}: ${why}`)
}

/** The refusal of a phrase that has words nobody understood. */
export function notUnderstood(text: string, words: string[]): WakefulError {
  const named = words
    .slice(0, WORDS_QUOTED_MAX)
    .map((word) => `'${word.slice(0, WORD_LENGTH_MAX)}'`)
    .join(', ')
  const zone = words.some(looksLikeZone) ? '; give the zone as timezone, beside the text' : ''
  const joined = words.includes('and') ? "; 'and' joins days or times of day: set an alarm for each rule" : ''
  return refusal(text, `not understood: ${named}${zone}${joined}; ${FORMS}`)
}
