import { DAY_MS } from '../durations/index.ts'
import { INSTANT_MAX, INSTANT_MIN } from './instant.ts'
import { temporal } from './temporal.ts'
import { offsetPeriodAt } from './wall-time.ts'

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
  const plain = temporal.Instant.fromEpochMilliseconds(wall).toZonedDateTimeISO('UTC').toPlainDateTime()
  // Both move forward in a gap; they differ only if the time occurs twice.
  const disambiguation = overlap === 'last' ? 'later' : 'compatible'
  const at = plain.toZonedDateTime(zone, { disambiguation }).epochMilliseconds
  return at < INSTANT_MIN || at > INSTANT_MAX ? null : at
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
