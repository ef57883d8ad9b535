import { WakefulError } from '../../error.ts'
import {
  assertWorkingWeekday,
  type DaysOff,
  daysOffOf,
  type Exclusion,
  expiredCalendarNotes,
  movedDay,
  movedNote,
  readExclude,
  withWorkingWeekend,
} from '../calendars/index.ts'
import { DAY_MS, parseDuration } from '../durations/index.ts'
import type { ResolvedPhrase } from '../phrases/index.ts'
import type { Rule } from '../rules/index.ts'
import { quote } from '../text/index.ts'
import {
  assertInstant,
  formatDay,
  INSTANT_MAX,
  instantOfWallTime,
  localDay,
  offsetPeriodAt,
  parseInstant,
} from '../zones/index.ts'
import { RECURRING_OPTIONS, readMisfire } from './options.ts'
import type { Resolved, WhenContext, WhenObject } from './when.ts'

/** Resolves a when that fires once, from the instant it names. */
export function resolveOnce(
  phrase: ResolvedPhrase,
  kind: string,
  object: WhenObject,
  { now, timezone, calendars }: WhenContext,
): Resolved {
  for (const name of RECURRING_OPTIONS) {
    if (object[name] === undefined) continue
    throw new WakefulError('when.recurring_only', { other: kind }, { field: name })
  }
  const misfire = readMisfire(object.misfire)
  if (typeof misfire === 'object') {
    throw new WakefulError('when.misfire_all_once', { other: kind })
  }
  const input = readExclude(object.exclude)
  const exclude = input && withWorkingWeekend(input, calendars)
  const off = exclude === undefined ? null : daysOffOf(exclude, calendars)
  assertWorkingWeekday(off)
  const moved = exclude && moveToWorkingDay(phrase.at, exclude, off!, timezone)
  const { at, wall } = { ...phrase, ...moved }
  const expired = exclude === undefined ? [] : expiredCalendarNotes(exclude, calendars, timezone, phrase.at)
  const notes = [...phrase.notes, ...(moved?.notes ?? []), ...expired]
  if (at < now) notes.push('the instant is in the past: it fires at once')
  // A wall time is stored only if the input was one, and not for UTC, whose data never change.
  const asWall = wall === undefined || phrase.wall === undefined || timezone === 'UTC' ? {} : { wall }
  const rule: Rule = { kind: 'once', at, timezone, ...asWall, ...(misfire && { misfire }) }
  return { rule, first: at, nominal: at, notes }
}

/**
 * Applies days off to a single instant: with `move` it moves to a working day, otherwise a day off is refused. The result
 * is a plain instant, which later edits of a calendar do not change.
 */
function moveToWorkingDay(at: number, exclude: Exclusion, off: DaysOff, zone: string): ResolvedPhrase {
  const day = localDay(zone, at)
  const reason = off.reason(day)
  if (exclude.move === undefined) {
    if (reason === undefined) return { at, notes: [] }
    throw new WakefulError('exclude.day_off', { day: formatDay(day), name: reason })
  }
  const newDay = movedDay(exclude, off, day)
  if (newDay === day) return { at, notes: [] }
  const wall = at + offsetPeriodAt(zone, at).offset
  const moved = newDay === null ? null : instantOfWallTime(zone, wall + (newDay - day) * DAY_MS, 'first')
  if (moved !== null) {
    return { at: moved, wall: wall + (newDay! - day) * DAY_MS, notes: [movedNote(exclude, off, day)] }
  }
  throw new WakefulError('exclude.no_working_day', { day: formatDay(day) })
}

/** The instant of `at`, `unix` or `delay`. */
export function readOnce(object: WhenObject, kind: string, context: WhenContext): number {
  if (kind === 'delay') return assertInstant(context.now + parseDuration(object.delay!), object.delay)
  return kind === 'unix' ? readUnix(object.unix) : parseInstant(object.at!)
}

function readUnix(unix: unknown): number {
  if (typeof unix !== 'number' || !Number.isFinite(unix)) {
    throw new WakefulError('instant.unix', { value: quote(unix) })
  }
  if (unix * 1000 > INSTANT_MAX && unix <= INSTANT_MAX) {
    throw new WakefulError('instant.unix_in_milliseconds', { value: String(unix) })
  }
  // Rounded to a microsecond first, because 1736882445.123 * 1000 is not an integer in floating point.
  return assertInstant(Math.ceil(Number((unix * 1000).toFixed(3))), unix)
}
