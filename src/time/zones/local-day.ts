import { INSTANT_MAX, INSTANT_MIN } from './instant.ts'
import { temporal } from './temporal.ts'
import { offsetPeriodAt } from './wall-time.ts'

const DAY_MS = 86_400_000

/** The date a zone's calendar shows at an instant, in days since 1970-01-01. */
export function localDay(zone: string, instant: number): number {
  return Math.floor((instant + offsetPeriodAt(zone, instant).offset) / DAY_MS)
}

/** The first moment from another on at which the zone's calendar shows this day or a later one. */
export function startOfDay(zone: string, day: number, from: number): number {
  // Two days before, by any zone's clock: the changes up to there are not worth looking at.
  for (let at = Math.max(from, (day - 2) * DAY_MS); ; ) {
    const { end, offset } = offsetPeriodAt(zone, at)
    const comes = day * DAY_MS - offset
    if (comes < end) return Math.max(at, comes)
    at = end
  }
}

/**
 * The instant of a wall time, written as the epoch milliseconds it would be in UTC. One inside a gap moves forward
 * by the gap's length; of one that occurs twice the first counts, or the last. Null outside the years Wakeful takes.
 */
export function instantOfWallTime(zone: string, wall: number, overlap: 'first' | 'last'): number | null {
  if (wall < INSTANT_MIN || wall > INSTANT_MAX) return null
  const plain = temporal.Instant.fromEpochMilliseconds(wall).toZonedDateTimeISO('UTC').toPlainDateTime()
  // In a gap both go forward; only where a time occurs twice do they differ.
  const disambiguation = overlap === 'last' ? 'later' : 'compatible'
  const at = plain.toZonedDateTime(zone, { disambiguation }).epochMilliseconds
  return at < INSTANT_MIN || at > INSTANT_MAX ? null : at
}

/** A day as it is written: '2026-12-24'. */
export function formatDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}

/** Reads a day as it is written, '2026-12-24', from 1970 to 9999; null where there is no such day. */
export function parseDay(text: string): number | null {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return null
  const ms = Date.parse(`${text}T00:00:00Z`)
  if (Number.isNaN(ms) || ms < INSTANT_MIN) return null
  const day = ms / DAY_MS
  return formatDay(day) === text ? day : null
}
