import { parseIso, resolveWallTime, temporal } from '../../zones/index.ts'
import { type CalendarUnit, type MonthDay, type PhraseInput, refusal } from './parsed.ts'
import type { Recurrence } from './resolve.ts'

/** The rarest day, February 29, comes within eight years. */
const MONTHS_MAX = 8 * 12 + 1

/** The first wall time of a recurrence after now, or from its start on. Steps of several units are counted from it. */
export function firstWallTime(
  recurrence: Recurrence,
  unit: CalendarUnit,
  phrase: PhraseInput,
): Temporal.PlainDateTime {
  const { start, times } = recurrence
  const from =
    start === undefined
      ? phrase.localNow.epochMilliseconds + 1
      : startInstant(start, phrase.localNow.timeZoneId, phrase)
  const day =
    start === undefined ? phrase.localNow.toPlainDate() : temporal.PlainDate.from(start.slice(0, 10))
  for (const date of datesOf(recurrence, unit, day)) {
    for (const { hour, minute, second } of times) {
      const wall = date.toPlainDateTime({ hour, minute, second })
      if (resolveWallTime(wall, phrase.localNow.timeZoneId, phrase).at >= from) return wall
    }
  }
  throw refusal(phrase, 'there is no such day')
}

function startInstant(start: string, timezone: string, phrase: PhraseInput): number {
  const { wallTimeMs, offsetMs } = parseIso(start)!
  if (offsetMs !== undefined) return wallTimeMs - offsetMs
  const wall = temporal.Instant.fromEpochMilliseconds(wallTimeMs).toZonedDateTimeISO('UTC').toPlainDateTime()
  return resolveWallTime(wall, timezone, phrase).at
}

/** The dates of a recurrence from a day on: enough of them to have one after the present. */
function* datesOf(
  { weekdays, ...days }: Recurrence,
  unit: CalendarUnit,
  from: Temporal.PlainDate,
): Generator<Temporal.PlainDate> {
  if (unit === 'day' || unit === 'week') {
    for (let ahead = 0; ahead <= 8; ahead++) {
      const date = from.add({ days: ahead })
      if (weekdays?.includes(date.dayOfWeek) ?? true) yield date
    }
    return
  }
  for (let ahead = 0; ahead <= MONTHS_MAX; ahead++) {
    const first = from.with({ day: 1 }).add({ months: ahead })
    if (days.months?.includes(first.month) === false) continue
    for (const day of daysOfMonth(days, first)) {
      const date = first.with({ day })
      if (temporal.PlainDate.compare(date, from) >= 0) yield date
    }
  }
}

/** The days of a month that a recurrence names, sorted. */
function daysOfMonth(
  { monthDays = [], nths = [] }: Pick<Recurrence, 'monthDays' | 'nths'>,
  first: Temporal.PlainDate,
): number[] {
  const length = first.daysInMonth
  const placed = nths.map(({ nth, weekday }) => {
    const earliest = 1 + ((weekday - first.dayOfWeek + 7) % 7)
    return nth === -1 ? earliest + 7 * Math.floor((length - earliest) / 7) : earliest + 7 * (nth - 1)
  })
  const named = monthDays.map((day) => numberOf(day, first))
  return [...new Set([...placed, ...named])].filter((day) => day <= length).sort((a, b) => a - b)
}

function numberOf(day: MonthDay, first: Temporal.PlainDate): number {
  if (typeof day === 'number') return day
  const length = first.daysInMonth
  if (day === 'last') return length
  if (day === 'first weekday') return first.dayOfWeek > 5 ? 9 - first.dayOfWeek : 1
  return length - Math.max(0, first.with({ day: length }).dayOfWeek - 5)
}
