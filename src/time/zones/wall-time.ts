import type { Temporal } from 'temporal-polyfill'
import { DAY_MS, formatDuration } from '../durations/index.ts'
import { assertInstant, INSTANT_MAX, INSTANT_MIN } from './canonical.ts'
import { plainTime, zoned } from './temporal.ts'

/** A period [start, end) in which a zone has one UTC offset, and the offset before it. In milliseconds. */
export interface OffsetPeriod {
  start: number
  end: number
  offset: number
  offsetBefore: number
}

const offsetPeriods = new Map<string, OffsetPeriod[]>()
const PERIODS_PER_ZONE = 6

/** The offset period of the zone that contains this instant. The latest few per zone are cached. */
export function offsetPeriodAt(zone: string, instant: number): OffsetPeriod {
  const cached = offsetPeriods.get(zone) ?? []
  for (const period of cached) if (period.start <= instant && instant < period.end) return period
  const found = findOffsetPeriod(zone, instant)
  offsetPeriods.set(zone, cached)
  cached.unshift(found)
  if (cached.length > PERIODS_PER_ZONE) cached.pop()
  return found
}

function findOffsetPeriod(zone: string, instant: number): OffsetPeriod {
  const at = zoned(zone, instant)
  // 'previous' is exclusive: from a millisecond later it includes a change at this instant.
  const start = zoned(zone, instant + 1).getTimeZoneTransition('previous')?.epochMilliseconds
  const end = at.getTimeZoneTransition('next')?.epochMilliseconds
  const offset = at.offsetNanoseconds / 1e6
  return {
    start: start ?? Number.NEGATIVE_INFINITY,
    end: end ?? Number.POSITIVE_INFINITY,
    offset,
    offsetBefore: start === undefined ? offset : zoned(zone, start - 1).offsetNanoseconds / 1e6,
  }
}

/** The wall time inside a gap that shifts forward to this instant; null if the clock did not just go forward. */
export function skippedWallTimeAt(zone: string, instant: number): number | null {
  const { start, offset, offsetBefore } = offsetPeriodAt(zone, instant)
  return instant < start + offset - offsetBefore ? instant + offsetBefore : null
}

/** Whether the local time of this instant occurs twice: by how much the clock goes back, and which of both this is. */
export function repetitionAt(zone: string, instant: number): { backMs: number; isSecond: boolean } | null {
  const { start, end, offset, offsetBefore } = offsetPeriodAt(zone, instant)
  if (instant < start + offsetBefore - offset) return { backMs: offsetBefore - offset, isSecond: true }
  const backMs = end === Number.POSITIVE_INFINITY ? 0 : offset - offsetPeriodAt(zone, end).offset
  return backMs > 0 && instant >= end - backMs ? { backMs, isSecond: false } : null
}

/** The local date at an instant, in days since 1970-01-01. */
export function localDay(zone: string, instant: number): number {
  return Math.floor((instant + offsetPeriodAt(zone, instant).offset) / DAY_MS)
}

/** The first instant, at or after `from`, at which the local date is this day or later. */
export function startOfDay(zone: string, day: number, from: number): number {
  // In no zone does a day start more than two days early, so clock changes before that do not matter.
  for (let at = Math.max(from, (day - 2) * DAY_MS); ; ) {
    const { end, offset } = offsetPeriodAt(zone, at)
    const midnight = day * DAY_MS - offset
    if (midnight < end) return Math.max(at, midnight)
    at = end
  }
}

/**
 * The instant of a wall time, which is given as the epoch milliseconds it would be in UTC. One inside a gap moves
 * forward by the gap's length; of one that occurs twice `overlap` counts. Null outside the years 1970 to 9999.
 */
export function instantOfWallTime(zone: string, wall: number, overlap: 'first' | 'last'): number | null {
  if (wall < INSTANT_MIN || wall > INSTANT_MAX) return null
  // Both move forward in a gap; they differ only if the time occurs twice.
  const disambiguation = overlap === 'last' ? 'later' : 'compatible'
  const at = plainTime(wall).toZonedDateTime(zone, { disambiguation }).epochMilliseconds
  return at < INSTANT_MIN || at > INSTANT_MAX ? null : at
}

/** A wall time resolved in a zone, with a note if a clock change affected it. */
export interface ResolvedWallTime {
  at: number
  /** The wall time itself, as the epoch milliseconds it would be in UTC. */
  wall: number
  note: string | undefined
}

/**
 * Resolves a wall time. One inside a gap moves forward by the gap's length. Of one that occurs twice the first counts,
 * or the second if only the first has passed at `now`.
 */
export function resolveWallTime(
  wall: Temporal.PlainDateTime,
  zone: string,
  input: unknown,
  now?: number,
): ResolvedWallTime {
  const placed = { wall: wall.toZonedDateTime('UTC').epochMilliseconds }
  const instant = (disambiguation: 'compatible' | 'later') =>
    wall.toZonedDateTime(zone, { disambiguation }).epochMilliseconds
  const at = assertInstant(instant('compatible'), input)
  if (now === undefined || at >= now || instant('later') < now) {
    return { ...placed, at, note: clockChangeNote(at, zone, wall) }
  }
  const second = instant('later')
  const note = overlapNote(wall, zone, second - at, 'this is the second, the first has passed')
  return { ...placed, at: second, note }
}

/** Describes what a clock change did to a wall time that was resolved to this instant, if anything. */
function clockChangeNote(at: number, zone: string, wall: Temporal.PlainDateTime): string | undefined {
  const local = zoned(zone, at).toPlainDateTime()
  if (!local.equals(wall)) return gapNote(wall, zone, `it fires at ${formatTimeOfDay(local)}`)
  const repetition = repetitionAt(zone, at)
  return repetition === null ? undefined : overlapNote(local, zone, repetition.backMs, 'this is the first')
}

/** The note for a wall time that does not exist. */
export function gapNote(wall: Temporal.PlainDateTime, zone: string, what: string): string {
  return `${formatTimeOfDay(wall)} does not exist that day in ${zone}, the clock goes forward: ${what}`
}

/** The note for a wall time that occurs twice. */
export function overlapNote(
  wall: Temporal.PlainDateTime,
  zone: string,
  backMs: number,
  which: string,
): string {
  return `${formatTimeOfDay(wall)} occurs twice that day in ${zone}, the clock goes back by ${formatDuration(backMs)}: ${which}`
}

/** The time of day as HH:MM, with seconds if there are any. */
export function formatTimeOfDay(wall: Temporal.PlainDateTime | Temporal.ZonedDateTime): string {
  const time = wall.toPlainTime()
  return time.toString({ smallestUnit: time.second === 0 && time.millisecond === 0 ? 'minute' : 'second' })
}

/** The instant in the zone: wall time, offset and zone name. */
export function formatLocal(instant: number, zone: string): string {
  return zoned(zone, instant).toString()
}

/** A day as text: '2026-12-24'. */
export function formatDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}

/** Parses a day such as '2026-12-24', from 1970 to 9999; null if there is no such day. */
export function parseDay(text: string): number | null {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return null
  const ms = Date.parse(`${text}T00:00:00Z`)
  if (Number.isNaN(ms) || ms < INSTANT_MIN) return null
  const day = ms / DAY_MS
  return formatDay(day) === text ? day : null
}
