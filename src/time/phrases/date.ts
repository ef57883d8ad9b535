import type { Temporal } from 'temporal-polyfill'
import { WakefulError } from '../../error.ts'
import { MONTH_NAMES, MONTHS, ordinal, WEEKDAYS } from '../text/index.ts'
import { temporal } from '../zones/index.ts'
import type { Amount } from './amount.ts'
import type { PhraseInput } from './phrase-input.ts'
import type { ParsedTime } from './time-of-day.ts'

/** A date in a phrase, not yet resolved to a day; `weekday` if the phrase names one besides the date. */
export type ParsedDate =
  | {
      kind: 'day'
      date: Temporal.PlainDate
      today?: true
      tonight?: true
      /** The end of a month or year: without a time of day, it is that of the end of the day. */
      end?: true
      weekday?: number
    }
  | { kind: 'after'; amount: Amount; from: ParsedDate; weekday?: number }
  | { kind: 'weekday'; weekday: number; next: boolean }
  | { kind: 'next week'; weekday?: number }
  | { kind: 'month day'; month: number; day: number; weekday?: number }
  | { kind: 'day of month'; day: number; weekday?: number }

/** A parsed date, and how many words it used. */
export interface DateMatch {
  date: ParsedDate
  used: number
}

const NUMERIC = /^(\d{1,2})[/.](\d{1,2})(?:[/.](\d{2,4}))?$/
const LEAP_YEAR = 2000
const ISO_DATE = /^(\d{4})([-/])(\d\d?)\2(\d\d?)$/

/** Parses a date at the start of these words; null if there is none. */
export function readDate(words: string[], today: Temporal.PlainDate): DateMatch | null {
  const [first, second, third] = words as [string, string?, string?]
  if (first === 'the') return after(1, readDate(words.slice(1), today))
  if (first === 'end' && second === 'of') return after(2, readEnd(words.slice(2), today))
  if (first === 'today') return { date: { kind: 'day', date: today, today: true }, used: 1 }
  if (first === 'tonight') return { date: { kind: 'day', date: today, today: true, tonight: true }, used: 1 }
  if (first === 'tomorrow') return day(today.add({ days: 1 }), 1)
  if (first === 'day' && second === 'after' && third === 'tomorrow') return day(today.add({ days: 2 }), 3)
  if (first === 'next' && second === 'week') return { date: { kind: 'next week' }, used: 2 }
  if (first === 'next' && second === 'month') return day(today.add({ months: 1 }), 2)
  if (first === 'next' && second === 'year') return day(today.add({ years: 1 }), 2)
  return readWeekday(first, second) ?? readMonth(words) ?? readNumeric(first)
}

function after(words: number, match: DateMatch | null): DateMatch | null {
  return match && { ...match, used: match.used + words }
}

/** Parses what the date is the end of: 'the month', 'this year', 'next month', 'december', 'february 2028'. */
function readEnd([first = '', second = '']: string[], today: Temporal.PlainDate): DateMatch | null {
  const month = MONTHS.get(first)
  if (month !== undefined && /^\d{4}$/.test(second)) {
    return endOn(dateOf(Number(second), month, 1), today, 2)
  }
  if (month !== undefined) {
    const isOver = month < today.month
    return endOn(today.with({ day: 1, month }).add({ years: isOver ? 1 : 0 }), today, 1)
  }
  const isNext = first === 'next'
  const isNamed = isNext || first === 'the' || first === 'this'
  const unit = isNamed ? second : first
  const used = isNamed ? 2 : 1
  if (unit === 'month') return endOn(today.add({ months: isNext ? 1 : 0 }), today, used)
  if (unit === 'year') return endOn(today.add({ years: isNext ? 1 : 0 }).with({ month: 12 }), today, used)
  if (unit !== 'week') return null
  const forms = isNext ? ['friday next week', 'sunday next week'] : ['friday', 'sunday']
  throw new WakefulError('phrase.ambiguous', { word: `end of ${unit}`, forms })
}

/** The last day of a month. */
function endOn(month: Temporal.PlainDate, today: Temporal.PlainDate, used: number): DateMatch {
  const date = month.with({ day: month.daysInMonth })
  return { date: { kind: 'day', date, end: true, ...(date.equals(today) && { today: true }) }, used }
}

function readWeekday(first: string, second: string | undefined): DateMatch | null {
  const named = first === 'next' || first === 'this' || first === 'coming'
  const weekday = WEEKDAYS.get(named ? (second ?? '') : first)
  if (weekday === undefined) return null
  return { date: { kind: 'weekday', weekday, next: first === 'next' }, used: named ? 2 : 1 }
}

/** Parses 'december 24', 'dec 24th 2026', '24 december', '24th of december 2026', or 'the 24th' alone. */
function readMonth(words: string[]): DateMatch | null {
  const [first, second, third, fourth] = words as [string, string?, string?, string?]
  const month = MONTHS.get(first)
  if (month !== undefined) {
    const number = dayNumber(second)
    return number === null ? null : monthDay(month, number, third, 2)
  }
  const number = dayNumber(first)
  if (number === null) return null
  const of = second === 'of'
  const monthAfter = MONTHS.get((of ? third : second) ?? '')
  if (monthAfter !== undefined) return monthDay(monthAfter, number, of ? fourth : third, of ? 3 : 2)
  if (ordinal(first) === null) return null
  if (number < 1 || number > 31) throw noSuchDay(first)
  return { date: { kind: 'day of month', day: number }, used: 1 }
}

/** The number of a day of the month, as in '24' and '24th'; null for any other word. */
export function dayNumber(word: string | undefined): number | null {
  return ordinal(word) ?? (/^\d{1,2}$/.test(word ?? '') ? Number(word) : null)
}

function monthDay(month: number, number: number, year: string | undefined, used: number): DateMatch {
  if (year !== undefined && /^\d{4}$/.test(year)) return day(dateOf(Number(year), month, number), used + 1)
  // Checked in a leap year, so that February 29 is valid: it resolves to the next year that has one.
  dateOf(LEAP_YEAR, month, number)
  return { date: { kind: 'month day', month, day: number }, used }
}

function readNumeric(word: string): DateMatch | null {
  const iso = ISO_DATE.exec(word)
  if (iso !== null) return day(dateOf(Number(iso[1]), Number(iso[3]), Number(iso[4])), 1)
  const match = NUMERIC.exec(word)
  // '5.30' can be a time or a date: only a slash or a year makes it a date.
  if (match === null || (!word.includes('/') && match[3] === undefined)) return null
  const [a, b] = [Number(match[1]), Number(match[2])]
  if (a <= 12 && b <= 12 && a !== b && a > 0 && b > 0) {
    const forms = [`${MONTH_NAMES[b - 1]} ${a}`, `${MONTH_NAMES[a - 1]} ${b}`]
    throw new WakefulError('phrase.ambiguous', { word, forms })
  }
  const [month, number] = a > 12 ? [b, a] : [a, b]
  if (match[3] === undefined) return monthDay(month, number, undefined, 1)
  if (match[3].length !== 4) throw new WakefulError('phrase.short_year', { word })
  return day(dateOf(Number(match[3]), month, number), 1)
}

function day(date: Temporal.PlainDate, used: number): DateMatch {
  return { date: { kind: 'day', date }, used }
}

function dateOf(year: number, month: number, number: number): Temporal.PlainDate {
  try {
    return temporal.PlainDate.from({ year, month, day: number }, { overflow: 'reject' })
  } catch {
    throw noSuchDay(
      month >= 1 && month <= 12
        ? `${MONTH_NAMES[month - 1]} ${number}${year === LEAP_YEAR ? '' : ` in ${year}`}`
        : `month ${month}`,
    )
  }
}

function noSuchDay(what: string): Error {
  return new WakefulError('phrase.no_such_day', { day: what })
}

/** Resolves a date of a phrase to a day: the named one, or the soonest that has not passed. */
export function dayOf(
  date: ParsedDate | undefined,
  time: ParsedTime,
  phrase: PhraseInput,
): Temporal.PlainDate {
  const { localNow, notes } = phrase
  const today = localNow.toPlainDate()
  const passed = temporal.PlainTime.compare(time, localNow.toPlainTime()) <= 0
  if (date === undefined) return passed ? today.add({ days: 1 }) : today
  if (date.kind === 'after') return dayOf(date.from, time, phrase).add(date.amount)
  if (time.midnight) {
    if (date.kind === 'day' && date.today) return today.add({ days: 1 })
    notes.push('midnight is read as 00:00, the start of that day')
  }
  switch (date.kind) {
    case 'day':
      return date.tonight ? tonight(time.hour, passed, today) : date.date
    case 'next week': {
      const weekday = date.weekday ?? today.dayOfWeek
      return today.add({ days: 7 - today.dayOfWeek + weekday })
    }
    case 'weekday': {
      const ahead = (date.weekday - today.dayOfWeek + 7) % 7
      const days = ahead === 0 && (passed || date.next) ? 7 : ahead
      // 'next friday' on a Wednesday is ambiguous: the coming one, or the one after it.
      if (date.next && today.dayOfWeek + days <= 7) {
        notes.push(
          `'next' is read as the first one from today on, ${today.add({ days })}; for the one after it, use ${today.add({ days: days + 7 })}`,
        )
      }
      return today.add({ days })
    }
    case 'month day': {
      const day = soonest(today, passed, (ahead) => dateIfValid(today.year + ahead, date.month, date.day))
      if (day.year !== today.year) notes.push(`there is no year: ${day.year} is used, the next one`)
      return day
    }
    case 'day of month':
      return soonest(today, passed, (ahead) => {
        const month = today.with({ day: 1 }).add({ months: ahead })
        return dateIfValid(month.year, month.month, date.day)
      })
  }
}

/** 'tonight at 2am' may be said in the evening before, or in the night itself. */
function tonight(hour: number, passed: boolean, today: Temporal.PlainDate): Temporal.PlainDate {
  if (hour >= 6 && hour < 17) {
    throw new WakefulError('phrase.not_tonight', { time: `${hour}:00` })
  }
  return hour < 6 && passed ? today.add({ days: 1 }) : today
}

function soonest(
  today: Temporal.PlainDate,
  passed: boolean,
  candidate: (ahead: number) => Temporal.PlainDate | null,
): Temporal.PlainDate {
  for (let ahead = 0; ; ahead++) {
    const day = candidate(ahead)
    if (day === null) continue
    const order = temporal.PlainDate.compare(day, today)
    if (order > 0 || (order === 0 && !passed)) return day
  }
}

function dateIfValid(year: number, month: number, day: number): Temporal.PlainDate | null {
  const date = temporal.PlainDate.from({ year, month, day }, { overflow: 'constrain' })
  return date.day === day ? date : null
}
