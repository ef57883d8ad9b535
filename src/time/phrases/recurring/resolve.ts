import { temporal } from '../../zones/index.ts'
import type { SaidTime } from '../time-of-day.ts'
import { boundOf } from './bound.ts'
import { type Pace, refusal, type SaidDays, type SaidRecurrence } from './parsed.ts'
import { settleDays, weekdaysOf } from './resolve-days.ts'
import { hoursOf, timesOf } from './times.ts'

/** A recurrence whose parts fit together and of which nothing is left open. */
export interface Recurrence extends SaidDays {
  pace: Pace
  /** Earliest first; none where the pace is a length of time. */
  times: SaidTime[]
  /** Full hours of the day; the end is not part of it. */
  window?: { from: number; to: number }
  minutePast?: number
  start?: string
  end?: string
  count?: number
}

const DEFAULT_TIME: SaidTime = { hour: 9, minute: 0, second: 0 }

/** Brings the parts of a phrase together: what contradicts itself is refused, what was left open is taken and noted. */
export function settle(
  said: SaidRecurrence,
  here: Temporal.ZonedDateTime,
  text: string,
  notes: string[],
): Recurrence {
  const clocks = clocksOf(said, text)
  const shared = boundsOf({ ...said, ...clocks }, here, text, notes)
  if (said.pace !== undefined && 'everyMs' in said.pace) {
    return { ...settleInterval(said, said.pace, text, notes), ...shared }
  }
  if (said.window !== undefined || said.minutePast !== undefined) {
    throw refusal(
      text,
      "a span of the day needs a rhythm within it: say 'every 15 minutes between 9:00 and 17:00'",
    )
  }
  const days = settleDays(said, dateOf(shared.start) ?? here.toPlainDate(), text, notes)
  if (clocks.clocks === undefined) {
    if (said.dayPart !== undefined) {
      throw refusal(
        text,
        `the ${said.dayPart} has no fixed hour: say 'every day at 8am', or 'every ${said.dayPart} at 8:30'`,
      )
    }
    if (said.count !== undefined && !said.count.led) {
      throw refusal(
        text,
        `'${said.count.times} times' may be on each day or in all: say 'every day at 9am, ${said.count.times} times', or the times of day`,
      )
    }
    notes.push('no time of day was given: 09:00 is taken')
  }
  const times =
    clocks.clocks === undefined ? [DEFAULT_TIME] : timesOf(clocks.clocks, said.dayPart, text, notes)
  const daily = days.pace.unit === 'day' && days.pace.interval === 1
  if (!daily && times.some(({ midnight }) => midnight)) {
    notes.push('midnight is read as 00:00, the start of that day')
  }
  return { ...days, times, ...shared }
}

/** 'every weekday starting tomorrow at 9am' says the time of the rule, 'until friday at 5pm' may say either. */
function clocksOf(said: SaidRecurrence, text: string): Pick<SaidRecurrence, 'clocks' | 'start'> {
  const { clocks, start, end, pace } = said
  const kept = { ...(clocks && { clocks }), ...(start && { start }) }
  if (pace !== undefined && 'everyMs' in pace) return kept
  if (start !== undefined && start.iso === undefined && start.date === undefined) {
    throw refusal(
      text,
      `'${start.word}' may be the time of each, or the start: say 'every day at 9am', or the day it starts`,
    )
  }
  if (clocks !== undefined) return kept
  if (start?.date !== undefined && start.clock !== undefined) {
    const { clock, ...date } = start
    return { clocks: [clock], start: date }
  }
  if (end?.clock !== undefined) {
    throw refusal(
      text,
      `'${end.clock.word}' may be the time of each, or of the end: say 'every day at 9am until friday'`,
    )
  }
  return kept
}

function boundsOf(
  said: SaidRecurrence,
  here: Temporal.ZonedDateTime,
  text: string,
  notes: string[],
): Pick<Recurrence, 'start' | 'end' | 'count'> {
  if (said.end !== undefined && said.end.iso === undefined && said.end.date === undefined) {
    throw refusal(
      text,
      `'${said.end.word}' may be the end of each day, or of all: say 'between 9am and 5pm', or the day it ends`,
    )
  }
  const start = said.start === undefined ? null : boundOf(said.start, 'start', here, text, notes)
  const end = said.end === undefined ? null : boundOf(said.end, 'end', here, text, notes)
  return {
    ...(start !== null && { start }),
    ...(end !== null && { end }),
    ...(said.count !== undefined && { count: said.count.times }),
  }
}

function settleInterval(
  said: SaidRecurrence,
  pace: { everyMs: number },
  text: string,
  notes: string[],
): Recurrence {
  if (said.clocks !== undefined) {
    throw refusal(
      text,
      `a rhythm of hours or less has no time of day: say 'starting at ${said.clocks[0]!.word}', or 'every day at ${said.clocks[0]!.word}'`,
    )
  }
  if (said.nths !== undefined || said.monthDays !== undefined || said.months !== undefined) {
    throw refusal(
      text,
      'hours or less can be limited to weekdays, not to days of the month: give { cron } for that',
    )
  }
  if (said.dayPart !== undefined) {
    throw refusal(text, `the ${said.dayPart} has no fixed hours: say 'between 8:00 and 12:00'`)
  }
  const weekdays = weekdaysOf(said, text)
  return {
    pace,
    times: [],
    ...(weekdays && { weekdays }),
    ...(said.minutePast !== undefined && { minutePast: said.minutePast }),
    ...(said.window && { window: hoursOf(said.window, text, notes) }),
  }
}

function dateOf(start: string | undefined): Temporal.PlainDate | null {
  return start === undefined ? null : temporal.PlainDate.from(start.slice(0, 10))
}
