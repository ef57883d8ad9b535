import type { Temporal } from 'temporal-polyfill'
import { WakefulError } from '../../../error.ts'
import { compileCron } from '../../cron/index.ts'
import { formatDuration } from '../../durations/index.ts'
import { pad2, quote } from '../../text/index.ts'
import { resolveWallTime, temporal, zoned } from '../../zones/index.ts'
import { parseBound } from '../moment.ts'
import type { PhraseInput } from '../phrase-input.ts'
import type { CalendarFrequency, CalendarUnit, MonthDay } from './parsed.ts'
import type { Recurrence } from './resolve.ts'

/** A rule as the text of one of its kinds. */
export type RuleText = { cron: string } | { every: string } | { rrule: string }

/** The rule of a recurrence; `anchor` is its first wall time if its interval is more than one unit. */
interface PhraseRule {
  when: RuleText
  anchor?: Temporal.PlainDateTime
}

const BYDAY = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']
const FREQ: Record<CalendarUnit, string> = { day: 'DAILY', week: 'WEEKLY', month: 'MONTHLY', year: 'YEARLY' }
const CRON_DAY: Record<string, string> = { last: 'L', 'first weekday': '1W', 'last weekday': 'LW' }
/** The place of a day among the weekdays of its month. */
const WEEKDAY_PLACE: Partial<Record<MonthDay, number>> = { 'first weekday': 1, 'last weekday': -1 }
/** The rarest day, February 29, comes within eight years. */
const MONTHS_MAX = 8 * 12 + 2
/** The units of the clock, and how many make the next one, at which cron starts over. */
const CLOCK_UNITS = [
  { unit: 'hour', ms: 3_600_000, whole: 24, restart: 'day' },
  { unit: 'minute', ms: 60_000, whole: 60, restart: 'hour' },
  { unit: 'second', ms: 1000, whole: 60, restart: 'minute' },
] as const

/**
 * Chooses the form that expresses the rule exactly: `every` for a plain length of time, cron if it follows the calendar
 * alone, and rrule if it skips units, with its first instant in DTSTART so that it never drifts.
 */
export function ruleOf(recurrence: Recurrence, phrase: PhraseInput): PhraseRule {
  const { frequency } = recurrence
  if ('everyMs' in frequency) return { when: intervalRule(recurrence, frequency.everyMs, phrase) }
  const { clampedDay } = recurrence
  if (frequency.interval === 1 && clampedDay === undefined)
    return { when: { cron: cronOf(recurrence, phrase) } }
  const rrule = rruleOf(recurrence, frequency, phrase)
  const anchor = clampedAnchor(recurrence) ?? firstWallTime(recurrence, phrase)
  if (clampedDay === undefined) phrase.notes.push(`counted from ${anchor.toPlainDate()}`)
  const start = anchor.toString({ smallestUnit: 'second' }).replaceAll(/[-:]/g, '')
  const { timeZoneId } = phrase.localNow
  return { when: { rrule: `DTSTART;TZID=${timeZoneId}:${start}\nRRULE:${rrule}` }, anchor }
}

/** Where a rule of a clamped day starts: on that day also if its time has passed, or the day would be lost. */
function clampedAnchor({ clampedDay, times, start }: Recurrence): Temporal.PlainDateTime | undefined {
  const first = clampedDay?.toPlainDateTime(times[0]!)
  const from = start === undefined ? first : temporal.PlainDateTime.from(start)
  return first && temporal.PlainDateTime.compare(from!, first) > 0 ? from : first
}

/** The first wall time of a recurrence after now, or from its start on. Steps of several units are counted from it. */
function firstWallTime(recurrence: Recurrence, phrase: PhraseInput): Temporal.PlainDateTime {
  const { start } = recurrence
  const { localNow, text } = phrase
  const [now, timezone] = [localNow.epochMilliseconds, localNow.timeZoneId]
  const from = start === undefined ? now + 1 : parseBound(start, { now, timezone }, 'start')
  const day = start === undefined ? localNow.toPlainDate() : temporal.PlainDate.from(start.slice(0, 10))
  // With an interval of one unit, cron expresses the same recurrence.
  const next = compileCron(cronOf(recurrence, phrase), timezone).nextWallTime!
  const until = utcMs(day.with({ day: 1 }).add({ months: MONTHS_MAX }))
  let wall = next(utcMs(day) - 1)
  for (; wall !== null && wall < until; wall = next(wall)) {
    const local = zoned('UTC', wall).toPlainDateTime()
    if (resolveWallTime(local, timezone, text).at >= from) return local
  }
  if (wall === null) throw new WakefulError('instant.out_of_range', { text: quote(text) })
  throw phrase.refusal('phrase.never_comes', {})
}

function utcMs(day: Temporal.PlainDate): number {
  return day.toZonedDateTime('UTC').epochMilliseconds
}

function intervalRule(recurrence: Recurrence, everyMs: number, phrase: PhraseInput): RuleText {
  const { weekdays, window, minutePast } = recurrence
  if (weekdays === undefined && window === undefined && minutePast === undefined) {
    if (recurrence.start === undefined) phrase.notes.push('counted from the moment it is set')
    else phrase.notes.push(`the first is at the start, ${recurrence.start}`)
    return { every: formatDuration(everyMs) }
  }
  // The step must divide evenly, because cron starts over each hour, day or span. A fraction of a second never does.
  const { unit, ms, whole, restart } = CLOCK_UNITS.find((each) => everyMs % each.ms === 0) ?? CLOCK_UNITS[2]
  const step = everyMs / ms
  const isSpanStep = window !== undefined && unit === 'hour' && step < whole
  if (!Number.isInteger(step) || (whole % step !== 0 && !isSpanStep)) {
    throw phrase.refusal('phrase.uneven_step', { unit: restart, step: formatDuration(everyMs) })
  }
  phrase.refuseIf(minutePast !== undefined && unit !== 'hour', 'phrase.minute_without_hours', {})
  const every = step === 1 ? '*' : `*/${step}`
  const hours = hourField(unit === 'hour' ? step : 1, recurrence, phrase)
  const past = minutePast ?? 0
  const minute = { hour: `${past}`, minute: every, second: `${every} *` }[unit]
  const last = { hour: pad2(past), minute: pad2(60 - step), second: `59:${pad2(60 - step)}` }[unit]
  if (window !== undefined) {
    const end = `${pad2(hours.last)}:${last}`
    phrase.notes.push(`${pad2(window.to)}:00 itself is not included: the last of the span is at ${end}`)
  } else if (minutePast === undefined) {
    phrase.notes.push(`on the clock: counted from the full ${restart}`)
  }
  return { cron: `${minute} ${hours.field} * * ${weekdayField(weekdays)}` }
}

/** The hours of an interval, and the last of them. */
function hourField(
  step: number,
  { window, weekdays }: Recurrence,
  phrase: PhraseInput,
): { field: string; last: number } {
  if (window === undefined) return { field: step === 1 ? '*' : `*/${step}`, last: 24 - step }
  const { from, to } = window
  const length = (to - from + 24) % 24
  const hours = Array.from({ length: Math.ceil(length / step) }, (_, index) => (from + index * step) % 24)
  const overMidnight = hours.some((hour) => hour < from)
  phrase.refuseIf(overMidnight && weekdays !== undefined, 'phrase.span_over_midnight', {})
  const last = hours.at(-1)!
  if (step === 1) return { field: formatRuns(hours), last }
  return { field: !overMidnight && hours.length > 2 ? `${from}-${last}/${step}` : hours.join(), last }
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
function timeSets({ times }: Recurrence, phrase: PhraseInput) {
  const distinct = (part: 'hour' | 'minute' | 'second') =>
    [...new Set(times.map((time) => time[part]))].sort((a, b) => a - b)
  const sets = { hours: distinct('hour'), minutes: distinct('minute'), seconds: distinct('second') }
  if (sets.hours.length * sets.minutes.length * sets.seconds.length === times.length) return sets
  throw phrase.refusal('phrase.different_minutes', {})
}

function rruleOf(recurrence: Recurrence, { unit, interval }: CalendarFrequency, phrase: PhraseInput): string {
  const { weekdays, nths, monthDays, months, times, clampedDay } = recurrence
  const [day] = monthDaysOf(monthDays ?? [], phrase)
  const place = day === undefined ? undefined : WEEKDAY_PLACE[day]
  const isWeekday = place !== undefined
  phrase.refuseIf(isWeekday && times.length > 1, 'phrase.one_time_of_day', { day: day! })
  const { hours, minutes, seconds } = timeSets(recurrence, phrase)
  const days = weekdays?.map((each) => BYDAY[each - 1])
  const anchored = clampedAnchor(recurrence)?.toPlainTime()
  const isOwnTime = anchored === undefined || anchored.equals(times[0]!)
  const clock = (times.length > 1 || !isOwnTime) && { BYHOUR: hours, BYMINUTE: minutes, BYSECOND: seconds }
  if (clampedDay !== undefined) {
    const latest = [28, 29, 30, 31].filter((each) => each <= clampedDay.day)
    // The last of these days that the month has, at each of the times.
    const places = times.map((_, index) => -1 - index)
    const month = unit === 'year' && { BYMONTH: clampedDay.month }
    return partsText({
      FREQ: FREQ[unit],
      INTERVAL: interval,
      ...month,
      BYMONTHDAY: latest,
      ...clock,
      BYSETPOS: places,
    })
  }
  const parts = {
    FREQ: FREQ[unit],
    INTERVAL: interval,
    BYMONTH: months,
    BYMONTHDAY: isWeekday ? undefined : monthDays?.map((each) => (each === 'last' ? -1 : each)),
    BYDAY: isWeekday
      ? BYDAY.slice(0, 5)
      : (days ?? nths?.map(({ nth, weekday }) => `${nth}${BYDAY[weekday - 1]}`)),
    BYSETPOS: place,
    ...clock,
  }
  return partsText(parts)
}

function partsText(parts: Record<string, unknown>): string {
  const named = Object.entries(parts).filter(([, value]) => value !== undefined)
  return named.map(([name, value]) => `${name}=${value}`).join(';')
}

/** The days of the month, if they fit together: the first or last weekday must be the only one. */
function monthDaysOf(days: MonthDay[], phrase: PhraseInput): MonthDay[] {
  const day = days.find((each) => typeof each !== 'number' && each !== 'last')
  if (days.length > 1 && day !== undefined) throw phrase.refusal('phrase.combined_days', { day })
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
