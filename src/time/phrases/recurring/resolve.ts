import { temporal } from '../../zones/index.ts'
import type { ParsedTime } from '../time-of-day.ts'
import { boundOf } from './bound.ts'
import {
  type Frequency,
  needsRule,
  type ParsedDays,
  type ParsedRecurrence,
  type PhraseInput,
  refusal,
} from './parsed.ts'
import { resolveDays, weekdaysOf } from './resolve-days.ts'
import { hoursOf, timesOf } from './times.ts'

/** A complete recurrence whose parts fit together. */
export interface Recurrence extends ParsedDays {
  frequency: Frequency
  /** Sorted; empty if the frequency is a length of time. */
  times: ParsedTime[]
  /** Full hours of the day; the end is exclusive. */
  window?: { from: number; to: number }
  minutePast?: number
  start?: string
  end?: string
  count?: number
}

const DEFAULT_TIME: ParsedTime = { hour: 9, minute: 0, second: 0 }

/** Combines the parts of a phrase: contradictions are refused, and defaults for missing parts are noted. */
export function resolveRecurrence(parsed: ParsedRecurrence, phrase: PhraseInput): Recurrence {
  const clocks = clocksOf(parsed, phrase)
  const shared = boundsOf({ ...parsed, ...clocks }, phrase)
  if (parsed.frequency !== undefined && 'everyMs' in parsed.frequency) {
    return { ...resolveInterval(parsed, parsed.frequency, phrase), ...shared }
  }
  if (parsed.window !== undefined || parsed.minutePast !== undefined) {
    throw refusal(
      phrase,
      "a span of the day needs a recurrence within it. Use 'every 15 minutes between 9:00 and 17:00'",
    )
  }
  const days = resolveDays(parsed, dateOf(shared.start) ?? phrase.localNow.toPlainDate(), phrase)
  if (clocks.clocks === undefined) {
    if (parsed.dayPart !== undefined) {
      throw refusal(
        phrase,
        `the ${parsed.dayPart} has no fixed hour. Use 'every day at 8am', or 'every ${parsed.dayPart} at 8:30'`,
      )
    }
    if (parsed.count !== undefined && !parsed.count.hasFor) {
      throw refusal(
        phrase,
        `'${parsed.count.times} times' may mean on each day or in total. Use 'every day at 9am, ${parsed.count.times} times', or list the times of day`,
      )
    }
    phrase.notes.push('there is no time of day: 09:00 is used')
  }
  const times = clocks.clocks === undefined ? [DEFAULT_TIME] : timesOf(clocks.clocks, parsed.dayPart, phrase)
  const daily = days.frequency.unit === 'day' && days.frequency.interval === 1
  if (!daily && times.some(({ midnight }) => midnight)) {
    phrase.notes.push('midnight is read as 00:00, the start of that day')
  }
  return { ...days, times, ...shared }
}

/** In 'every weekday starting tomorrow at 9am', the time is the rule's; in 'until friday at 5pm' it is ambiguous. */
function clocksOf(parsed: ParsedRecurrence, phrase: PhraseInput): Pick<ParsedRecurrence, 'clocks' | 'start'> {
  const { clocks, start, end, frequency } = parsed
  const unchanged = { ...(clocks && { clocks }), ...(start && { start }) }
  if (frequency !== undefined && 'everyMs' in frequency) return unchanged
  if (start !== undefined && start.iso === undefined && start.date === undefined) {
    throw refusal(
      phrase,
      `'${start.word}' may be the time of each occurrence, or the start. Use 'every day at 9am', or name the day it starts`,
    )
  }
  if (clocks !== undefined) return unchanged
  if (start?.date !== undefined && start.clock !== undefined) {
    const { clock, ...date } = start
    return { clocks: [clock], start: date }
  }
  if (end?.clock !== undefined) {
    throw refusal(
      phrase,
      `'${end.clock.word}' may be the time of each occurrence, or of the end. Use 'every day at 9am until friday'`,
    )
  }
  return unchanged
}

function boundsOf(
  parsed: ParsedRecurrence,
  phrase: PhraseInput,
): Pick<Recurrence, 'start' | 'end' | 'count'> {
  if (parsed.end !== undefined && parsed.end.iso === undefined && parsed.end.date === undefined) {
    throw refusal(
      phrase,
      `'${parsed.end.word}' may be the end of each day, or of all. Use 'between 9am and 5pm', or name the day it ends`,
    )
  }
  const start = parsed.start === undefined ? null : boundOf(parsed.start, 'start', phrase)
  const end = parsed.end === undefined ? null : boundOf(parsed.end, 'end', phrase)
  return {
    ...(start !== null && { start }),
    ...(end !== null && { end }),
    ...(parsed.count !== undefined && { count: parsed.count.times }),
  }
}

function resolveInterval(
  parsed: ParsedRecurrence,
  frequency: { everyMs: number },
  phrase: PhraseInput,
): Recurrence {
  if (parsed.clocks !== undefined) {
    throw refusal(
      phrase,
      `a recurrence of hours or less has no time of day. Use 'starting at ${parsed.clocks[0]!.word}', or 'every day at ${parsed.clocks[0]!.word}'`,
    )
  }
  if (parsed.nths !== undefined || parsed.monthDays !== undefined || parsed.months !== undefined) {
    throw needsRule(phrase, 'hours or less can be limited to weekdays, not to days of the month', 'cron')
  }
  if (parsed.dayPart !== undefined) {
    throw refusal(phrase, `the ${parsed.dayPart} has no fixed hours. Use 'between 8:00 and 12:00'`)
  }
  const weekdays = weekdaysOf(parsed, phrase)
  return {
    frequency,
    times: [],
    ...(weekdays && { weekdays }),
    ...(parsed.minutePast !== undefined && { minutePast: parsed.minutePast }),
    ...(parsed.window && { window: hoursOf(parsed.window, phrase) }),
  }
}

function dateOf(start: string | undefined): Temporal.PlainDate | null {
  return start === undefined ? null : temporal.PlainDate.from(start.slice(0, 10))
}
