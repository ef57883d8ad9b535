import { WEEKDAY_NAMES } from '../../text/index.ts'
import { temporal } from '../../zones/index.ts'
import {
  type CalendarUnit,
  needsRule,
  notUnderstood,
  type ParsedDays,
  type ParsedRecurrence,
  type PhraseInput,
  refusal,
} from './parsed.ts'

const EVERY_DAY = [1, 2, 3, 4, 5, 6, 7]
const LEAP_YEAR = 2000

/** Resolves the days of a calendar rule; if the phrase names none, those of the reference day. */
export function resolveDays(
  parsed: ParsedRecurrence,
  reference: Temporal.PlainDate,
  phrase: PhraseInput,
): ParsedDays & { frequency: CalendarFrequency } {
  const { nths, monthDays, months } = parsed
  const weekdays = weekdaysOf(parsed, phrase)
  if ([weekdays, nths, monthDays].filter((days) => days !== undefined).length > 1) {
    throw refusal(phrase, 'it has both weekdays and days of the month. Use one, or set an alarm for each')
  }
  const frequency = calendarFrequency(parsed, weekdays, phrase)
  const days: ParsedDays = {
    ...(weekdays && { weekdays }),
    ...(nths && { nths }),
    ...(monthDays && { monthDays }),
    ...(months && { months }),
  }
  assertFits(frequency, days, phrase)
  const whole = { frequency, ...days, ...defaultDays(frequency, days, reference, phrase) }
  noteMissingDays(whole, phrase)
  return whole
}

/** The named weekdays without the excepted ones. */
export function weekdaysOf(
  { weekdays, except, frequency }: ParsedRecurrence,
  phrase: PhraseInput,
): number[] | undefined {
  if (except === undefined) return weekdays
  const daily =
    frequency !== undefined &&
    ('everyMs' in frequency || (frequency.unit === 'day' && frequency.interval === 1))
  if (weekdays === undefined && !daily) {
    throw refusal(phrase, "an exception needs days to exclude from. Use 'every day except sunday at 9am'")
  }
  const left = (weekdays ?? EVERY_DAY).filter((day) => !except.includes(day))
  if (left.length === 0) throw refusal(phrase, 'the exception leaves no day')
  return left
}

interface CalendarFrequency {
  unit: CalendarUnit
  interval: number
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
      throw refusal(phrase, `it has both every day and ${WEEKDAY_NAMES[weekdays[0]! - 1]}. Use one of them`)
    }
    return byWeek && (frequency.unit === 'day' || (frequency.unit === 'year' && months !== undefined))
      ? { unit: 'week', interval: 1 }
      : frequency
  }
  if (weekdays !== undefined) return { unit: 'week', interval: 1 }
  if (months !== undefined) return { unit: 'year', interval: 1 }
  if (monthDays !== undefined) {
    const open = monthDays.find((day) => typeof day !== 'number')
    if (open !== undefined)
      phrase.notes.push(`'${open === 'last' ? 'last day' : open}' is read as that of every month`)
    return { unit: 'month', interval: 1 }
  }
  if (nths === undefined) throw notUnderstood(phrase, ['every'])
  const placed = nths.find(({ nth }) => nth !== -1)
  if (placed !== undefined) {
    const day = WEEKDAY_NAMES[placed.weekday - 1]!
    const stepped = placed.nth === 1 ? `'every ${day}'` : `'every ${placed.nth} weeks on ${day}'`
    throw refusal(
      phrase,
      `'${ordinalName(placed.nth)} ${day}' is ambiguous. Use ${stepped} or '${ordinalName(placed.nth)} ${day} of every month'`,
    )
  }
  phrase.notes.push("'last' is read as the last of every month")
  return { unit: 'month', interval: 1 }
}

function assertFits({ unit, interval }: CalendarFrequency, days: ParsedDays, phrase: PhraseInput): void {
  const { weekdays, nths, monthDays, months } = days
  const placed = nths !== undefined || monthDays !== undefined
  if (unit === 'day' && (placed || (weekdays !== undefined && interval > 1))) {
    throw refusal(
      phrase,
      `every ${interval === 1 ? '' : `${interval} `}day${interval === 1 ? '' : 's'} leaves no choice of days. Use 'every 2 weeks on friday', or the days alone`,
    )
  }
  if (unit === 'week' && placed) {
    throw refusal(phrase, "days of the month do not occur each week. Use 'on the 1st of every month'")
  }
  if ((unit === 'month' || unit === 'year') && weekdays !== undefined) {
    throw refusal(
      phrase,
      `which ${WEEKDAY_NAMES[weekdays[0]! - 1]} of the ${unit}? Use 'first monday of every month', or 'every monday'`,
    )
  }
  if (unit === 'month' && months !== undefined) {
    throw refusal(phrase, "it has both months and every month. Use 'every year on the 1st of june and july'")
  }
  if (unit === 'year' && placed !== (months !== undefined)) {
    throw refusal(
      phrase,
      `the ${placed ? 'month' : 'day'} is missing. Use 'every year on december 24 at 18:00'`,
    )
  }
  if ((unit === 'day' || unit === 'week') && interval > 1 && months !== undefined) {
    throw needsRule(phrase, `every ${interval} ${unit}s cannot be limited to months`, 'rrule')
  }
}

/** The days of 'weekly' and the like: those of the reference day. A day that some months lack is refused. */
function defaultDays(
  { unit }: CalendarFrequency,
  days: ParsedDays,
  reference: Temporal.PlainDate,
  phrase: PhraseInput,
): ParsedDays {
  if (unit === 'day' || days.weekdays || days.nths || days.monthDays) return {}
  const { day, month, dayOfWeek } = reference
  if (unit === 'week') {
    phrase.notes.push(`there is no weekday: ${WEEKDAY_NAMES[dayOfWeek - 1]} is used, that of ${reference}`)
    return { weekdays: [dayOfWeek] }
  }
  if (unit === 'month' && day > 28) {
    throw refusal(
      phrase,
      `not every month has a day ${day}. Use 'on the ${day}${day === 31 ? 'st' : 'th'} of every month', which skips those, or 'last day of every month'`,
    )
  }
  if (unit === 'year' && month === 2 && day === 29) {
    throw refusal(
      phrase,
      "not every year has a February 29. Use 'every year on february 29', which skips those, or 'february 28'",
    )
  }
  phrase.notes.push(`there is no day: that of ${reference} is used`)
  return unit === 'month' ? { monthDays: [day] } : { months: [month], monthDays: [day] }
}

/** Refuses days that exist in none of the months, and notes which months or years are skipped. */
function noteMissingDays(
  { months, monthDays, nths, frequency }: ParsedDays & { frequency: CalendarFrequency },
  phrase: PhraseInput,
): void {
  const lengths = (months ?? [1, 2, 4]).map(
    (month) => temporal.PlainYearMonth.from({ year: LEAP_YEAR, month }).daysInMonth,
  )
  const latest = Math.max(0, ...(monthDays ?? []).filter((day) => typeof day === 'number'))
  if (monthDays?.some((day) => typeof day === 'number' && day > Math.max(...lengths))) {
    throw refusal(phrase, `there is no day ${latest} in that month. Use a day that exists`)
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

/** 'first' to 'fifth', or 'last'. */
export function ordinalName(nth: number): string {
  return nth === -1 ? 'last' : ['first', 'second', 'third', 'fourth', 'fifth'][nth - 1]!
}
