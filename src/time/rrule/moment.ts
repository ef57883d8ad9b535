import { offsetPeriodAt, zoned } from '../zones/index.ts'
import { DAY_S } from './civil-date.ts'
import type { RruleDate } from './date-text.ts'
import type { RruleMoment, RruleText } from './text.ts'

/** The last wall-clock second UNTIL lets through, and wall times up to it that it does not, for they come later. */
export interface UntilWall {
  last: number
  /** [from, to): shifted out of a gap to after UNTIL; empty almost always. */
  late: [from: number, to: number]
}

const NONE: UntilWall['late'] = [0, 0]

/**
 * UNTIL on the wall clock of the rule's zone. A day includes all of itself. An instant includes the wall times that
 * resolve (as Temporal's `compatible`: shifted out of a gap, the first of two) to no later one.
 */
export function untilOnWallClock(until: RruleDate, zone: string): UntilWall {
  if (until.kind === 'date') return { last: until.second + DAY_S - 1, late: NONE }
  if (until.kind === 'local') return { last: until.second, late: NONE }
  const { start, offset, offsetBefore } = offsetPeriodAt(zone, until.second * 1000)
  const wall = until.second + offset / 1000
  const change = (offset - offsetBefore) / 1000
  const since = until.second - start / 1000
  if (since >= Math.abs(change)) return { last: wall, late: NONE }
  // Soon after the clocks went back, the wall times shown again had their turn before; after they went forward,
  // those of the gap have it one by one now.
  if (change < 0) return { last: (start + offsetBefore) / 1000 - 1, late: NONE }
  return { last: wall, late: [until.second + offsetBefore / 1000 + 1, (start + offset) / 1000] }
}

/** The instant of a date or time, in seconds; a wall time of no zone of its own is in the rule's. */
export function instantOf(moment: RruleMoment, zone: string): number {
  if (moment.kind === 'utc') return moment.second
  const wall = zoned('UTC', moment.second * 1000).toPlainDateTime()
  const placed = wall.toZonedDateTime(moment.timezone ?? zone, { disambiguation: 'compatible' })
  return placed.epochMilliseconds / 1000
}

/**
 * The seconds of the zone's wall clock that resolve to a moment: the one it shows then, and first, where there is one,
 * that of the gap which is shifted there.
 */
export function wallSecondsOf(moment: RruleMoment, zone: string): number[] {
  if (moment.kind !== 'utc' && (moment.timezone ?? zone) === zone) return [moment.second]
  const instant = instantOf(moment, zone)
  const { start, offset, offsetBefore } = offsetPeriodAt(zone, instant * 1000)
  const shifted = offset > offsetBefore && instant * 1000 < start + offset - offsetBefore
  const shown = instant + offset / 1000
  return shifted ? [instant + offsetBefore / 1000, shown] : [shown]
}

/** What RDATE adds: a day without a time has that of the start. Without an RRULE, the start is one of them. */
export function addedDates({ added, rules, start }: RruleText, startS: number): RruleMoment[] {
  const timeOfDay = startS - Math.floor(startS / DAY_S) * DAY_S
  const timed = added.map((moment) =>
    moment.kind === 'date'
      ? { ...moment, kind: 'local' as const, second: moment.second + timeOfDay }
      : moment,
  )
  return rules.length === 0 && start !== undefined ? [...timed, { kind: 'local', second: startS }] : timed
}
