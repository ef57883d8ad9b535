import { WakefulError } from '../../error.ts'
import { temporal } from '../zones/index.ts'
import type { ParsedDate } from './date.ts'
import type { ParsedTime } from './time-of-day.ts'

/** Resolves a date of a phrase to a day: the named one, or the soonest that has not passed. */
export function dayOf(
  date: ParsedDate | undefined,
  time: ParsedTime,
  clock: Temporal.PlainTime,
  localNow: Temporal.ZonedDateTime,
  notes: string[],
): Temporal.PlainDate {
  const today = localNow.toPlainDate()
  const passed = temporal.PlainTime.compare(clock, localNow.toPlainTime()) <= 0
  if (date === undefined) return passed ? today.add({ days: 1 }) : today
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
    throw new WakefulError('phrase.unsupported', {
      text: null,
      detail: `tonight has no ${hour}:00. Say 'today' or 'tomorrow', or a time of the night`,
    })
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
