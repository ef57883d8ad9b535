import { ordinalName, WEEKDAY_NAMES } from '../../text/index.ts'
import { temporal } from '../../zones/index.ts'
import { DEFAULT_TIME, DEFAULT_TIME_NOTE } from '../phrase.ts'
import type { PhraseInput } from '../phrase-input.ts'
import type { ParsedTime } from '../time-of-day.ts'
import { boundOf } from './bound.ts'
import {
  type CalendarFrequency,
  type CalendarUnit,
  EVERY_DAY,
  type Frequency,
  isDaily,
  needsRule,
  notUnderstood,
  type ParsedDays,
  type ParsedRecurrence,
} from './parsed.ts'
import { hoursOf, timesOf } from './times.ts'

const LEAP_YEAR = 2000

/** The days of a calendar rule, and how often they come. */
type CalendarDays = ParsedDays & { frequency: CalendarFrequency }

/** A complete recurrence whose parts fit together. */
export type Recurrence = Omit<ParsedRecurrence, 'window' | 'start' | 'end' | 'count'> & {
  frequency: Frequency
  /** Sorted; empty if the frequency is a length of time. */
  times: ParsedTime[]
  /** Full hours of the day; the end is exclusive. */
  window?: { from: number; to: number } | undefined
  start?: string | undefined
  end?: string | undefined
  count?: number | undefined
}

/** Combines the parts of a phrase: contradictions are refused, and defaults for missing parts are noted. */
export function resolveRecurrence(read: ParsedRecurrence, phrase: PhraseInput): Recurrence {
  const parsed = withTimeOfStart(read, phrase)
  const { frequency, clocks, dayPart, count } = parsed
  const bounds = boundsOf(parsed, phrase)
  if (frequency !== undefined && 'everyMs' in frequency) {
    return { ...parsed, ...resolveInterval(parsed, phrase), frequency, times: [], ...bounds }
  }
  if (parsed.window !== undefined || parsed.minutePast !== undefined) {
    throw phrase.refusal(
      "a span of the day needs a recurrence within it. Use 'every 15 minutes between 9:00 and 17:00'",
    )
  }
  const days = resolveDays(parsed, bounds.start, phrase)
  if (clocks === undefined && dayPart !== undefined) {
    throw phrase.refusal(
      `the ${dayPart} has no fixed hour. Use 'every day at 8am', or 'every ${dayPart} at 8:30'`,
    )
  }
  if (clocks === undefined && count?.hasFor === false) {
    throw phrase.refusal(
      `'${count.times} times' may mean on each day or in total. Use 'every day at 9am, ${count.times} times', or list the times of day`,
    )
  }
  if (clocks === undefined) phrase.notes.push(DEFAULT_TIME_NOTE)
  const times = clocks === undefined ? [DEFAULT_TIME] : timesOf(clocks, dayPart, phrase)
  if (!isDaily(days.frequency) && times.some(({ midnight }) => midnight)) {
    phrase.notes.push('midnight is read as 00:00, the start of that day')
  }
  return { ...parsed, ...days, times, ...bounds, window: undefined }
}

/** In 'every weekday starting tomorrow at 9am', the time is the rule's; in 'until friday at 5pm' it is ambiguous. */
function withTimeOfStart(parsed: ParsedRecurrence, phrase: PhraseInput): ParsedRecurrence {
  const { clocks, start, end, frequency } = parsed
  if (frequency !== undefined && 'everyMs' in frequency) return parsed
  if (start !== undefined && start.iso === undefined && start.date === undefined) {
    throw phrase.refusal(
      `'${start.word}' may be the time of each occurrence, or the start. Use 'every day at 9am', or name the day it starts`,
    )
  }
  if (clocks !== undefined) return parsed
  if (start?.date !== undefined && start.clock !== undefined) {
    const { clock, ...date } = start
    return { ...parsed, clocks: [clock], start: date }
  }
  if (end?.clock === undefined) return parsed
  throw phrase.refusal(
    `'${end.clock.word}' may be the time of each occurrence, or of the end. Use 'every day at 9am until friday'`,
  )
}

function boundsOf({ start, end, count }: ParsedRecurrence, phrase: PhraseInput) {
  if (end !== undefined && end.iso === undefined && end.date === undefined) {
    throw phrase.refusal(
      `'${end.word}' may be the end of each day, or of all. Use 'between 9am and 5pm', or name the day it ends`,
    )
  }
  return {
    start: start && boundOf(start, 'start', phrase),
    end: end && boundOf(end, 'end', phrase),
    count: count?.times,
  }
}

function resolveInterval(parsed: ParsedRecurrence, phrase: PhraseInput) {
  if (parsed.clocks !== undefined) {
    const { word } = parsed.clocks[0]!
    throw phrase.refusal(
      `a recurrence of hours or less has no time of day. Use 'starting at ${word}', or 'every day at ${word}'`,
    )
  }
  if (parsed.nths !== undefined || parsed.monthDays !== undefined || parsed.months !== undefined) {
    throw needsRule(phrase, 'hours or less can be limited to weekdays, not to days of the month', 'cron')
  }
  if (parsed.dayPart !== undefined) {
    throw phrase.refusal(`the ${parsed.dayPart} has no fixed hours. Use 'between 8:00 and 12:00'`)
  }
  const weekdays = weekdaysOf(parsed, phrase)
  return { weekdays, window: parsed.window && hoursOf(parsed.window, phrase) }
}

/** Resolves the days of a calendar rule; if the phrase names none, those of the first day or of today. */
function resolveDays(parsed: ParsedRecurrence, start: string | undefined, phrase: PhraseInput): CalendarDays {
  const { nths, monthDays, months } = parsed
  const weekdays = weekdaysOf(parsed, phrase)
  if ([weekdays, nths, monthDays].filter((days) => days !== undefined).length > 1) {
    throw phrase.refusal('it has both weekdays and days of the month. Use one, or set an alarm for each')
  }
  const frequency = calendarFrequency(parsed, weekdays, phrase)
  const days: ParsedDays = { weekdays, nths, monthDays, months }
  assertFits(frequency, days, phrase)
  const whole = { frequency, ...days, ...defaultDays(frequency.unit, days, start, phrase) }
  noteMissingDays(whole, phrase)
  return whole
}

/** The named weekdays without the excepted ones. */
function weekdaysOf({ weekdays, except, frequency }: ParsedRecurrence, phrase: PhraseInput) {
  if (except === undefined) return weekdays
  if (weekdays === undefined && !isDaily(frequency)) {
    throw phrase.refusal("an exception needs days to exclude from. Use 'every day except sunday at 9am'")
  }
  const left = (weekdays ?? EVERY_DAY).filter((day) => !except.includes(day))
  if (left.length === 0) throw phrase.refusal('the exception leaves no day')
  return left
}

function calendarFrequency(
  parsed: ParsedRecurrence,
  weekdays: number[] | undefined,
  phrase: PhraseInput,
): CalendarFrequency {
  const { nths, monthDays, months } = parsed
  const frequency = parsed.frequency as CalendarFrequency | undefined
  if (frequency !== undefined) {
    // In 'daily on weekdays' and 'every monday in december every year', the weekdays are the frequency.
    const byWeek = weekdays !== undefined && frequency.interval === 1
    if (byWeek && frequency.unit === 'day' && weekdays.length === 1 && parsed.except === undefined) {
      throw phrase.refusal(`it has both every day and ${WEEKDAY_NAMES[weekdays[0]! - 1]}. Use one of them`)
    }
    return byWeek && (frequency.unit === 'day' || (frequency.unit === 'year' && months !== undefined))
      ? { unit: 'week', interval: 1 }
      : frequency
  }
  if (weekdays !== undefined) return { unit: 'week', interval: 1 }
  if (months !== undefined) return { unit: 'year', interval: 1 }
  if (monthDays !== undefined) {
    const open = monthDays.find((day) => typeof day !== 'number')
    if (open !== undefined) {
      phrase.notes.push(`'${open === 'last' ? 'last day' : open}' is read as that of every month`)
    }
    return { unit: 'month', interval: 1 }
  }
  if (nths === undefined) throw notUnderstood(phrase, ['every'])
  const placed = nths.find(({ nth }) => nth !== -1)
  if (placed !== undefined) {
    const day = WEEKDAY_NAMES[placed.weekday - 1]!
    const nthDay = `${ordinalName(placed.nth)} ${day}`
    const stepped = placed.nth === 1 ? `'every ${day}'` : `'every ${placed.nth} weeks on ${day}'`
    throw phrase.refusal(`'${nthDay}' is ambiguous. Use ${stepped} or '${nthDay} of every month'`)
  }
  phrase.notes.push("'last' is read as the last of every month")
  return { unit: 'month', interval: 1 }
}

function assertFits({ unit, interval }: CalendarFrequency, days: ParsedDays, phrase: PhraseInput): void {
  const { weekdays, nths, monthDays, months } = days
  const placed = nths !== undefined || monthDays !== undefined
  if (unit === 'day' && (placed || (weekdays !== undefined && interval > 1))) {
    throw phrase.refusal(
      `every ${interval === 1 ? '' : `${interval} `}day${interval === 1 ? '' : 's'} leaves no choice of days. Use 'every 2 weeks on friday', or the days alone`,
    )
  }
  if (unit === 'week' && placed) {
    throw phrase.refusal("days of the month do not occur each week. Use 'on the 1st of every month'")
  }
  if ((unit === 'month' || unit === 'year') && weekdays !== undefined) {
    throw phrase.refusal(
      `which ${WEEKDAY_NAMES[weekdays[0]! - 1]} of the ${unit}? Use 'first monday of every month', or 'every monday'`,
    )
  }
  if (unit === 'month' && months !== undefined) {
    throw phrase.refusal("it has both months and every month. Use 'every year on the 1st of june and july'")
  }
  if (unit === 'year' && placed !== (months !== undefined)) {
    throw phrase.refusal(
      `the ${placed ? 'month' : 'day'} is missing. Use 'every year on december 24 at 18:00'`,
    )
  }
  if ((unit === 'day' || unit === 'week') && interval > 1 && months !== undefined) {
    throw needsRule(phrase, `every ${interval} ${unit}s cannot be limited to months`, 'rrule')
  }
}

/** The days of 'weekly' and the like: those of the first day or of today. A day that some months lack is refused. */
function defaultDays(
  unit: CalendarUnit,
  days: ParsedDays,
  start: string | undefined,
  phrase: PhraseInput,
): ParsedDays {
  if (unit === 'day' || days.weekdays || days.nths || days.monthDays) return {}
  const reference =
    start === undefined ? phrase.localNow.toPlainDate() : temporal.PlainDate.from(start.slice(0, 10))
  const { day, month, dayOfWeek } = reference
  if (unit === 'week') {
    phrase.notes.push(`there is no weekday: ${WEEKDAY_NAMES[dayOfWeek - 1]} is used, that of ${reference}`)
    return { weekdays: [dayOfWeek] }
  }
  if (unit === 'month' && day > 28) {
    throw phrase.refusal(
      `not every month has a day ${day}. Use 'on the ${day}${day === 31 ? 'st' : 'th'} of every month', which skips those, or 'last day of every month'`,
    )
  }
  if (unit === 'year' && month === 2 && day === 29) {
    throw phrase.refusal(
      "not every year has a February 29. Use 'every year on february 29', which skips those, or 'february 28'",
    )
  }
  phrase.notes.push(`there is no day: that of ${reference} is used`)
  return unit === 'month' ? { monthDays: [day] } : { months: [month], monthDays: [day] }
}

/** Refuses days that exist in none of the months, and notes which months or years are skipped. */
function noteMissingDays({ months, monthDays, nths, frequency }: CalendarDays, phrase: PhraseInput): void {
  const lengths = (months ?? [1, 2, 4]).map(
    (month) => temporal.PlainYearMonth.from({ year: LEAP_YEAR, month }).daysInMonth,
  )
  const latest = Math.max(0, ...(monthDays ?? []).filter((day) => typeof day === 'number'))
  if (monthDays?.some((day) => typeof day === 'number' && day > Math.max(...lengths))) {
    throw phrase.refusal(`there is no day ${latest} in that month. Use a day that exists`)
  }
  const leap = months?.length === 1 && months[0] === 2 && latest === 29
  if (leap) phrase.notes.push('years without a February 29 are skipped')
  else if (lengths.some((length) => latest > length) || (months?.includes(2) && latest === 29)) {
    phrase.notes.push(
      `months without a day ${latest} are skipped; for the last of each, use 'last day of every month'`,
    )
  }
  if (nths?.some(({ nth }) => nth === 5)) phrase.notes.push('months without a fifth are skipped')
  if (monthDays?.some((day) => day === 'first weekday' || day === 'last weekday')) {
    phrase.notes.push('weekdays are Monday to Friday; holidays are not known')
  }
  if (frequency.unit === 'month' && frequency.interval > 1 && latest > 28) {
    phrase.notes.push('a month that is skipped still counts')
  }
}
