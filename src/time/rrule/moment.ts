import { DAY_S, list, mod, type Sequence } from '../civil/index.ts'
import { offsetPeriodAt, plainTime, skippedWallTimeAt } from '../zones/index.ts'
import type { RruleDate } from './parts.ts'
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
  const wall = plainTime(moment.second * 1000)
  return wall.toZonedDateTime(moment.timezone ?? zone).epochMilliseconds / 1000
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

/** What RDATE adds and EXDATE removes: single seconds, and whole days of the wall clock. */
export interface RruleDates {
  added: Sequence
  removed: ReadonlySet<number>
  removedDays: ReadonlySet<number>
}

/**
 * The dates of RDATE and EXDATE, in the seconds that `secondsOf` finds. An RDATE without a time has that of DTSTART.
 * Without an RRULE, DTSTART is a date too.
 */
export function datesOf(
  read: RruleText,
  startS: number,
  secondsOf: (moment: RruleMoment) => number[],
): RruleDates {
  const added = read.added.map((moment): RruleMoment => {
    if (moment.kind !== 'date') return moment
    return { ...moment, kind: 'local', second: moment.second + mod(startS, DAY_S) }
  })
  if (read.rules.length === 0 && read.start !== undefined) added.push({ kind: 'local', second: startS })
  const [days, timed] = [
    read.removed.filter(({ kind }) => kind === 'date'),
    read.removed.filter(({ kind }) => kind !== 'date'),
  ]
  const seconds = new Set(added.map((moment) => secondsOf(moment).at(-1)!))
  return {
    added: list([...seconds].sort((a, b) => a - b)),
    removed: new Set(timed.flatMap(secondsOf)),
    removedDays: new Set(days.map(({ second }) => second / DAY_S)),
  }
}
