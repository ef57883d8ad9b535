import { formatDuration } from '../durations/index.ts'
import { assertInstant } from './instant.ts'
import { temporal } from './temporal.ts'

/** A stretch of one zone's history with one offset: [start, end), and the offset that held before it. */
export interface OffsetPeriod {
  start: number
  end: number
  offset: number
  offsetBefore: number
}

const offsetPeriods = new Map<string, OffsetPeriod[]>()
const PERIODS_PER_ZONE = 6

/** The stretch of the zone's history that holds this instant. */
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
  // 'previous' is strictly before: a millisecond later it includes a change at this very instant.
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

/** The instant on the zone's calendar and wall clock. */
export function zoned(zone: string, instant: number): Temporal.ZonedDateTime {
  return temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone)
}

/** A wall time resolved in a zone, with a note where the clock change made a choice necessary. */
export interface ResolvedWallTime {
  at: number
  /** The wall time itself, written as the epoch milliseconds it would be in UTC. */
  wall: number
  note?: string
}

/**
 * Resolves a wall time: one inside a gap moves forward by the gap's length, of one that occurs twice the first counts.
 * Where that one has passed by `now`, and the second has not, the second does: it is the one still to come.
 */
export function resolveWallTime(
  wall: Temporal.PlainDateTime,
  zone: string,
  input: unknown,
  now?: number,
): ResolvedWallTime {
  const at = assertInstant(
    wall.toZonedDateTime(zone, { disambiguation: 'compatible' }).epochMilliseconds,
    input,
  )
  const wallTimeMs = wall.toZonedDateTime('UTC').epochMilliseconds
  if (now !== undefined && at < now) {
    const second = wall.toZonedDateTime(zone, { disambiguation: 'later' }).epochMilliseconds
    if (second >= now)
      return {
        at: second,
        wall: wallTimeMs,
        note: overlapNote(wall, zone, second - at, 'this is the second, the first has passed'),
      }
  }
  const note = clockChangeNote(at, zone, wall)
  const placed = { at, wall: wallTimeMs }
  return note === undefined ? placed : { ...placed, note }
}

/** Says what a clock change did to a wall time that was resolved to this instant, if anything. */
function clockChangeNote(at: number, zone: string, wall: Temporal.PlainDateTime): string | undefined {
  const local = zoned(zone, at).toPlainDateTime()
  if (!local.equals(wall)) return gapNote(wall, zone, `it fires at ${formatTimeOfDay(local)}`)
  const { end, offset } = offsetPeriodAt(zone, at)
  if (end === Number.POSITIVE_INFINITY) return undefined
  const back = offset - offsetPeriodAt(zone, end).offset
  return back <= 0 || at < end - back ? undefined : overlapNote(local, zone, back, 'this is the first')
}

/** The words for a wall time that does not exist. */
export function gapNote(wall: Temporal.PlainDateTime, zone: string, what: string): string {
  return `${formatTimeOfDay(wall)} does not exist that day in ${zone}, the clock goes forward: ${what}`
}

/** The words for a wall time that occurs twice. */
export function overlapNote(
  wall: Temporal.PlainDateTime,
  zone: string,
  backMs: number,
  which: string,
): string {
  return `${formatTimeOfDay(wall)} occurs twice that day in ${zone}, the clock goes back by ${formatDuration(backMs)}: ${which}`
}

/** The time of day as short as it can be said. */
export function formatTimeOfDay(wall: Temporal.PlainDateTime | Temporal.ZonedDateTime): string {
  const time = wall.toPlainTime()
  return time.toString({ smallestUnit: time.second === 0 && time.millisecond === 0 ? 'minute' : 'second' })
}

/** The instant as people of the zone write it: wall clock, offset and zone. */
export function formatLocal(instant: number, zone: string): string {
  return zoned(zone, instant).toString()
}
