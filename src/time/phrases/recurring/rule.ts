import { formatDuration } from '../../durations/index.ts'
import { pad2 } from '../../text/index.ts'
import { firstWallTime } from './anchor.ts'
import { type CalendarUnit, type MonthDay, type PhraseInput, refusal } from './parsed.ts'
import type { Recurrence } from './resolve.ts'

/** The rule of a recurrence; `anchor` is its first wall time if its interval is more than one unit. */
export interface PhraseRule {
  when: { cron: string } | { every: string } | { rrule: string }
  anchor?: Temporal.PlainDateTime
}

const BYDAY = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']
const FREQ: Record<CalendarUnit, string> = { day: 'DAILY', week: 'WEEKLY', month: 'MONTHLY', year: 'YEARLY' }
const CRON_DAY: Record<string, string> = { last: 'L', 'first weekday': '1W', 'last weekday': 'LW' }
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

/**
 * Chooses the form that expresses the rule exactly: `every` for a plain length of time, cron if it follows the calendar
 * alone, and rrule if it skips units, with its first instant in DTSTART so that it never drifts.
 */
export function ruleOf(recurrence: Recurrence, phrase: PhraseInput): PhraseRule {
  const { frequency } = recurrence
  if ('everyMs' in frequency) return { when: intervalRule(recurrence, frequency.everyMs, phrase) }
  if (frequency.interval === 1) return { when: { cron: cronOf(recurrence, phrase) } }
  const anchor = firstWallTime(recurrence, frequency.unit, phrase)
  phrase.notes.push(`counted from ${anchor.toPlainDate()}`)
  const start = anchor.toString({ smallestUnit: 'second' }).replaceAll(/[-:]/g, '')
  return {
    when: {
      rrule: `DTSTART;TZID=${phrase.localNow.timeZoneId}:${start}\nRRULE:${rruleParts(recurrence, phrase).join(';')}`,
    },
    anchor,
  }
}

function intervalRule(
  recurrence: Recurrence,
  everyMs: number,
  phrase: PhraseInput,
): { cron: string } | { every: string } {
  const { weekdays, window, minutePast } = recurrence
  if (weekdays === undefined && window === undefined && minutePast === undefined) {
    if (recurrence.start === undefined) phrase.notes.push('counted from the moment it is set')
    else phrase.notes.push(`the first is at the start, ${recurrence.start}`)
    return { every: formatDuration(everyMs) }
  }
  const { unit, step } = clockStep(everyMs, window !== undefined, phrase)
  if (minutePast !== undefined && unit !== 'hour') {
    throw refusal(phrase, "a minute of the hour goes with hours. Use 'every hour at :15'")
  }
  const hours = hourField(unit === 'hour' ? step : 1, window, weekdays, phrase)
  const every = (field: 'second' | 'minute') => (unit === field ? (step === 1 ? '*' : `*/${step}`) : '*')
  const minute = unit === 'hour' ? String(minutePast ?? 0) : every('minute')
  addClockNotes(recurrence, { unit, step, last: hours.last }, phrase)
  const seconds = unit === 'second' ? `${every('second')} ` : ''
  return { cron: `${seconds}${minute} ${hours.field} * * ${weekdayField(weekdays)}` }
}

/** The step of an interval on the clock. It must divide evenly, because cron starts over each hour, day or span. */
function clockStep(
  everyMs: number,
  spanned: boolean,
  phrase: PhraseInput,
): { unit: 'second' | 'minute' | 'hour'; step: number } {
  const [unit, ms, whole] =
    everyMs % HOUR_MS === 0
      ? (['hour', HOUR_MS, 24] as const)
      : everyMs % MINUTE_MS === 0
        ? (['minute', MINUTE_MS, 60] as const)
        : (['second', 1000, 60] as const)
  const step = everyMs / ms
  const even = whole % step === 0 || (spanned && unit === 'hour' && step < whole)
  if (Number.isInteger(step) && even) return { unit, step }
  throw refusal(
    phrase,
    `within days or hours of the clock it must divide the ${unit === 'hour' ? 'day' : unit === 'minute' ? 'hour' : 'minute'} evenly, and ${formatDuration(everyMs)} does not. Use 'every 15 minutes', 'every 30 minutes' or 'every 2 hours'`,
  )
}

function hourField(
  step: number,
  window: Recurrence['window'],
  weekdays: number[] | undefined,
  phrase: PhraseInput,
): { field: string; last: number } {
  if (window === undefined) return { field: step === 1 ? '*' : `*/${step}`, last: 24 - step }
  const { from, to } = window
  const length = (to - from + 24) % 24
  const hours = Array.from({ length: Math.ceil(length / step) }, (_, index) => (from + index * step) % 24)
  const overMidnight = hours.some((hour) => hour < from)
  if (overMidnight && weekdays !== undefined) {
    throw refusal(
      phrase,
      'a span over midnight belongs to two days. Leave out the days, or set an alarm for each side',
    )
  }
  const last = hours.at(-1)!
  if (step > 1)
    return { field: !overMidnight && hours.length > 2 ? `${from}-${last}/${step}` : hours.join(), last }
  return {
    field: overMidnight
      ? `${formatRuns(hours.filter((hour) => hour >= from))},${formatRuns(hours.filter((hour) => hour < from))}`
      : formatRuns(hours),
    last,
  }
}

function addClockNotes(
  { window, minutePast }: Recurrence,
  { unit, step, last }: { unit: string; step: number; last: number },
  phrase: PhraseInput,
): void {
  const minute = unit === 'hour' ? (minutePast ?? 0) : unit === 'minute' ? 60 - step : 59
  const at = `${pad2(last)}:${pad2(minute)}${unit === 'second' ? `:${pad2(60 - step)}` : ''}`
  if (window !== undefined) {
    phrase.notes.push(`${pad2(window.to)}:00 itself is not included: the last of the span is at ${at}`)
  } else if (minutePast === undefined) {
    phrase.notes.push(
      `on the clock: counted from the full ${unit === 'hour' ? 'day' : unit === 'minute' ? 'hour' : 'minute'}`,
    )
  }
}

function cronOf(recurrence: Recurrence, phrase: PhraseInput): string {
  const { weekdays, nths, monthDays, months } = recurrence
  const { hours, minutes, seconds } = timeSets(recurrence, phrase)
  const second = seconds.length === 1 && seconds[0] === 0 ? '' : `${seconds} `
  const weekday =
    nths === undefined
      ? weekdayField(weekdays)
      : nths.map(({ nth, weekday: day }) => (nth === -1 ? `${day % 7}L` : `${day % 7}#${nth}`)).join()
  const day =
    monthDays === undefined ? '*' : monthDaysOf(monthDays, phrase).map((each) => CRON_DAY[each] ?? each)
  return `${second}${minutes} ${hours} ${day} ${months === undefined ? '*' : formatRuns(months)} ${weekday}`
}

/** Hours, minutes and seconds whose combinations are exactly the times, which is all that one rule can express. */
function timeSets(
  { times }: Recurrence,
  phrase: PhraseInput,
): { hours: number[]; minutes: number[]; seconds: number[] } {
  const distinct = (part: 'hour' | 'minute' | 'second') =>
    [...new Set(times.map((time) => time[part]))].sort((a, b) => a - b)
  const sets = { hours: distinct('hour'), minutes: distinct('minute'), seconds: distinct('second') }
  if (sets.hours.length * sets.minutes.length * sets.seconds.length === times.length) return sets
  throw refusal(phrase, 'its times of day have different minutes. Set an alarm for each')
}

function rruleParts(recurrence: Recurrence, phrase: PhraseInput): string[] {
  const { weekdays, nths, monthDays, months, times } = recurrence
  const { unit, interval } = recurrence.frequency as { unit: CalendarUnit; interval: number }
  const parts = [`FREQ=${FREQ[unit]}`, `INTERVAL=${interval}`]
  if (months !== undefined) parts.push(`BYMONTH=${months}`)
  const days = monthDays === undefined ? [] : monthDaysOf(monthDays, phrase)
  const place = days[0] === 'first weekday' ? 1 : days[0] === 'last weekday' ? -1 : undefined
  if (place !== undefined) {
    if (times.length > 1)
      throw refusal(phrase, `the ${days[0]} of a month has one time of day. Set an alarm for each`)
    parts.push(`BYDAY=${BYDAY.slice(0, 5)}`, `BYSETPOS=${place}`)
  } else if (days.length > 0) {
    parts.push(`BYMONTHDAY=${days.map((day) => (day === 'last' ? -1 : day))}`)
  }
  if (weekdays !== undefined) parts.push(`BYDAY=${weekdays.map((day) => BYDAY[day - 1])}`)
  if (nths !== undefined) parts.push(`BYDAY=${nths.map(({ nth, weekday }) => `${nth}${BYDAY[weekday - 1]}`)}`)
  const { hours, minutes, seconds } = timeSets(recurrence, phrase)
  if (times.length > 1) parts.push(`BYHOUR=${hours}`, `BYMINUTE=${minutes}`, `BYSECOND=${seconds}`)
  return parts
}

/** The days of the month, if they fit together: the first or last weekday must be the only one. */
function monthDaysOf(days: MonthDay[], phrase: PhraseInput): MonthDay[] {
  if (days.length > 1 && days.some((day) => typeof day !== 'number' && day !== 'last')) {
    throw refusal(
      phrase,
      'the first or last weekday of a month cannot be combined with other days. Set an alarm for the other days',
    )
  }
  return days
}

function weekdayField(weekdays: number[] | undefined): string {
  if (weekdays === undefined || weekdays.length === 7) return '*'
  return formatRuns(weekdays.map((day) => day % 7).sort((a, b) => a - b))
}

/** Sorted numbers as a cron field; three or more in a row become a range. */
function formatRuns(numbers: number[]): string {
  const found: number[][] = []
  for (const number of numbers) {
    const run = found.at(-1)
    if (run?.at(-1) === number - 1) run.push(number)
    else found.push([number])
  }
  return found.map((run) => (run.length > 2 ? `${run[0]}-${run.at(-1)}` : run.join())).join()
}
