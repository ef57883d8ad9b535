import { WakefulError } from '../../../error.ts'
import { ordinalName, WEEKDAY_NAMES } from '../../text/index.ts'
import { temporal } from '../../zones/index.ts'
import { DEFAULT_TIME, DEFAULT_TIME_NOTE } from '../phrase.ts'
import type { PhraseInput } from '../phrase-input.ts'
import type { DayPart, ParsedTime } from '../time-of-day.ts'
import { boundOf } from './bound.ts'
import {
  type CalendarFrequency,
  type CalendarUnit,
  EVERY_DAY,
  type Frequency,
  isDaily,
  notUnderstood,
  type ParsedDays,
  type ParsedRecurrence,
} from './parsed.ts'
import { hoursOf, timesOf } from './times.ts'

const LEAP_YEAR = 2000

/** The days of a calendar rule, and how often they come. */
type CalendarDays = ParsedDays & { frequency: CalendarFrequency; clampedDay?: Temporal.PlainDate }

/** A complete recurrence whose parts fit together. */
export type Recurrence = Omit<ParsedRecurrence, 'window' | 'start' | 'end' | 'count'> & {
  frequency: Frequency
  /** The first day of a rule that names none, if some months lack it: they have their last day instead. */
  clampedDay?: Temporal.PlainDate
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
  phrase.refuseIf(parsed.window ?? parsed.minutePast !== undefined, 'phrase.span_without_step', {})
  const days = resolveDays(parsed, bounds.start, phrase)
  if (clocks === undefined && count?.hasFor === false) {
    throw phrase.refusal('phrase.times_per_day', { count: count.times })
  }
  const times = clocks === undefined ? [openTime(dayPart, phrase)] : timesOf(clocks, dayPart, phrase)
  if (!isDaily(days.frequency) && times.some(({ midnight }) => midnight)) {
    phrase.notes.push('midnight is read as 00:00, the start of that day')
  }
  return { ...parsed, ...days, times, ...bounds, window: undefined }
}

/** The time of day of a phrase without one: that of its part of the day, or the default. */
function openTime(dayPart: DayPart | undefined, phrase: PhraseInput): ParsedTime {
  const { note = DEFAULT_TIME_NOTE, ...time } = dayPart === undefined ? DEFAULT_TIME : phrase.timeOf(dayPart)
  phrase.notes.push(note)
  return time
}

/** In 'every weekday starting tomorrow at 9am', the time is the rule's; in 'until friday at 5pm' it is ambiguous. */
function withTimeOfStart(parsed: ParsedRecurrence, phrase: PhraseInput): ParsedRecurrence {
  const { clocks, start, end, frequency } = parsed
  if (frequency !== undefined && 'everyMs' in frequency) return parsed
  if (start !== undefined && start.iso === undefined && start.date === undefined) {
    throw phrase.refusal('phrase.start_or_time', { word: start.word })
  }
  if (clocks !== undefined) return parsed
  if (start?.date !== undefined && start.clock !== undefined) {
    const { clock, ...date } = start
    return { ...parsed, clocks: [clock], start: date }
  }
  if (end?.clock === undefined) return parsed
  throw phrase.refusal('phrase.end_or_time', { word: end.clock.word })
}

function boundsOf({ start, end, count }: ParsedRecurrence, phrase: PhraseInput) {
  if (end !== undefined && end.iso === undefined && end.date === undefined) {
    throw phrase.refusal('phrase.end_of_day', { word: end.word })
  }
  return {
    start: start && boundOf(start, 'start', phrase),
    end: end && boundOf(end, 'end', phrase),
    count: count?.times,
  }
}

function resolveInterval(parsed: ParsedRecurrence, phrase: PhraseInput) {
  const { clocks, nths, monthDays, months, dayPart } = parsed
  if (clocks !== undefined) throw phrase.refusal('phrase.hours_with_time', { word: clocks[0]!.word })
  phrase.refuseIf(nths ?? monthDays ?? months, 'phrase.hours_in_months', {})
  if (dayPart !== undefined) throw phrase.refusal('phrase.day_part_in_hours', { part: dayPart })
  const weekdays = weekdaysOf(parsed, phrase)
  return { weekdays, window: parsed.window && hoursOf(parsed.window, phrase) }
}

/** Resolves the days of a calendar rule; if the phrase names none, those of the first day or of today. */
function resolveDays(parsed: ParsedRecurrence, start: string | undefined, phrase: PhraseInput): CalendarDays {
  const { nths, monthDays, months } = parsed
  const weekdays = weekdaysOf(parsed, phrase)
  const named = [weekdays, nths, monthDays].filter((days) => days !== undefined)
  phrase.refuseIf(named.length > 1, 'phrase.weekdays_and_month_days', {})
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
  phrase.refuseIf(weekdays === undefined && !isDaily(frequency), 'phrase.except_without_days', {})
  const left = (weekdays ?? EVERY_DAY).filter((day) => !except.includes(day))
  if (left.length === 0) throw phrase.refusal('phrase.except_all', {})
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
      throw phrase.refusal('phrase.every_day_and_weekday', { day: WEEKDAY_NAMES[weekdays[0]! - 1]! })
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
    const stepped = placed.nth === 1 ? `every ${day}` : `every ${placed.nth} weeks on ${day}`
    throw new WakefulError('phrase.ambiguous', { word: nthDay, forms: [stepped, `${nthDay} of every month`] })
  }
  phrase.notes.push("'last' is read as the last of every month")
  return { unit: 'month', interval: 1 }
}

function assertFits({ unit, interval }: CalendarFrequency, days: ParsedDays, phrase: PhraseInput): void {
  const { weekdays, nths, monthDays, months } = days
  const placed = nths !== undefined || monthDays !== undefined
  const isChosen = placed || (weekdays !== undefined && interval > 1)
  phrase.refuseIf(unit === 'day' && isChosen, 'phrase.days_without_choice', {})
  phrase.refuseIf(unit === 'week' && placed, 'phrase.month_days_in_weeks', {})
  if ((unit === 'month' || unit === 'year') && weekdays !== undefined) {
    throw phrase.refusal('phrase.which_weekday', { day: WEEKDAY_NAMES[weekdays[0]! - 1]!, unit })
  }
  phrase.refuseIf(unit === 'month' && months !== undefined, 'phrase.months_in_months', {})
  if (unit === 'year' && placed !== (months !== undefined)) {
    throw phrase.refusal('phrase.year_incomplete', { part: placed ? 'month' : 'day' })
  }
  if ((unit === 'day' || unit === 'week') && interval > 1 && months !== undefined) {
    throw phrase.refusal('phrase.steps_in_months', { count: interval, unit })
  }
}

/**
 * The days of 'weekly' and the like: those of the first day or of today. Months that lack the day have their last day: a
 * program that declares 'monthly' at every start must be able to start on the 31st.
 */
function defaultDays(
  unit: CalendarUnit,
  days: ParsedDays,
  start: string | undefined,
  phrase: PhraseInput,
): ParsedDays & { clampedDay?: Temporal.PlainDate } {
  if (unit === 'day' || days.weekdays || days.nths || days.monthDays) return {}
  const reference =
    start === undefined ? phrase.localNow.toPlainDate() : temporal.PlainDate.from(start.slice(0, 10))
  const { day, month, dayOfWeek } = reference
  if (unit === 'week') {
    phrase.notes.push(`there is no weekday: ${WEEKDAY_NAMES[dayOfWeek - 1]} is used, that of ${reference}`)
    return { weekdays: [dayOfWeek] }
  }
  const instead = unit === 'month' ? 'the last day of shorter months' : 'February 28 in common years'
  const isClamped = unit === 'month' ? day > 28 : month === 2 && day === 29
  phrase.notes.push(`there is no day: that of ${reference} is used${isClamped ? `, and ${instead}` : ''}`)
  if (isClamped) return { clampedDay: reference }
  return unit === 'month' ? { monthDays: [day] } : { months: [month], monthDays: [day] }
}

/** Refuses days that exist in none of the months, and notes which months or years are skipped. */
function noteMissingDays({ months, monthDays, nths, frequency }: CalendarDays, phrase: PhraseInput): void {
  const lengths = (months ?? [1, 2, 4]).map(
    (month) => temporal.PlainYearMonth.from({ year: LEAP_YEAR, month }).daysInMonth,
  )
  const latest = Math.max(0, ...(monthDays ?? []).filter((day) => typeof day === 'number'))
  if (monthDays?.some((day) => typeof day === 'number' && day > Math.max(...lengths))) {
    throw phrase.refusal('phrase.not_in_month', { day: latest })
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
