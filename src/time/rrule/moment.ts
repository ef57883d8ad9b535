import { offsetPeriodAt, skippedWallTimeAt, zoned } from '../zones/index.ts'
import { DAY_S } from './civil-date.ts'
import type { RruleDate } from './date-text.ts'
import type { RruleMoment, RruleText } from './text.ts'

/** UNTIL on the wall clock: the last second it allows, and the seconds before that which it does not. */
export interface UntilWall {
  last: number
  /** [from, to): wall times that shift out of a gap to after UNTIL; almost always empty. */
  late: [from: number, to: number]
}

const NONE: UntilWall['late'] = [0, 0]

/**
 * UNTIL on the wall clock of the rule's zone. A day counts to its end. An instant includes the wall times that resolve to
 * it or earlier (as Temporal's `compatible` does: shifted out of a gap, the first of two).
 */
export function untilOnWallClock(until: RruleDate, zone: string): UntilWall {
  if (until.kind === 'date') return { last: until.second + DAY_S - 1, late: NONE }
  if (until.kind === 'local') return { last: until.second, late: NONE }
  const { start, offset, offsetBefore } = offsetPeriodAt(zone, until.second * 1000)
  const wall = until.second + offset / 1000
  const change = (offset - offsetBefore) / 1000
  const since = until.second - start / 1000
  if (since >= Math.abs(change)) return { last: wall, late: NONE }
  // Right after the clock went back, the repeated wall times have occurred already. Right after it went forward, those of
  // the gap are due one by one.
  if (change < 0) return { last: (start + offsetBefore) / 1000 - 1, late: NONE }
  return { last: wall, late: [until.second + offsetBefore / 1000 + 1, (start + offset) / 1000] }
}

/** The instant of a date or time, in seconds. A wall time without a zone is in the rule's. */
export function instantOf(moment: RruleMoment, zone: string): number {
  if (moment.kind === 'utc') return moment.second
  const wall = zoned('UTC', moment.second * 1000).toPlainDateTime()
  const placed = wall.toZonedDateTime(moment.timezone ?? zone, { disambiguation: 'compatible' })
  return placed.epochMilliseconds / 1000
}

/**
 * The wall-clock seconds that resolve to this moment in the zone: the one in a gap that shifts there, if there is one,
 * and the local time itself.
 */
export function wallSecondsOf(moment: RruleMoment, zone: string): number[] {
  if (moment.kind !== 'utc' && (moment.timezone ?? zone) === zone) return [moment.second]
  const instant = instantOf(moment, zone)
  const skipped = skippedWallTimeAt(zone, instant * 1000)
  const local = instant + offsetPeriodAt(zone, instant * 1000).offset / 1000
  return skipped === null ? [local] : [skipped / 1000, local]
}

/** The dates of RDATE: a day without a time has that of DTSTART. Without an RRULE, DTSTART is one of them. */
export function addedDates({ added, rules, start }: RruleText, startS: number): RruleMoment[] {
  const timeOfDay = startS - Math.floor(startS / DAY_S) * DAY_S
  const timed = added.map((moment) =>
    moment.kind === 'date'
      ? { ...moment, kind: 'local' as const, second: moment.second + timeOfDay }
      : moment,
  )
  return rules.length === 0 && start !== undefined ? [...timed, { kind: 'local', second: startS }] : timed
}
