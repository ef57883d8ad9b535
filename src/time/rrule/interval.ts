import { DAY_S } from '../civil/index.ts'
import { fixedInterval, type Instants, offsetPeriodAt, wallTimesOf } from '../zones/index.ts'
import { datesOf, instantOf } from './moment.ts'
import type { RruleParts } from './parts.ts'
import { nextInSet, type RruleOrigin, UNIT_S } from './recurrence-set.ts'
import type { RruleText } from './text.ts'

/**
 * The interval in seconds of a recurrence with a fixed one: a single RRULE of hours, minutes or seconds without BY parts.
 * Null for recurrences that follow the wall clock.
 */
export function rruleInterval({ rules }: RruleText): number | null {
  const [parts, another] = rules
  if (parts === undefined || another !== undefined || parts.freq === 'DAILY') return null
  const unitS = UNIT_S[parts.freq]
  if (unitS === undefined || Object.keys(parts).some((name) => name.startsWith('by'))) return null
  return parts.interval * unitS
}

/** The instants of a recurrence with a fixed interval, which clock changes do not affect. */
export function intervalInstants(
  read: RruleText,
  everyS: number,
  { startS, startAt, fromS }: RruleOrigin,
  zone: string,
): Instants {
  const first = startAt / 1000 + (fromS > startS ? everyS : 0)
  const steps = fixedInterval(first, everyS, lastOf(read.rules[0]!, first, everyS, zone))
  const dates = datesOf(read, startS, (moment) => [instantOf(moment, zone)])
  const from = nextInSet([{ from: (second) => steps.next(second - 1) }], dates, (found) =>
    endOfDayIn(dates.removedDays, found, zone),
  )
  const { next } = wallTimesOf(from)
  if (read.added.length + read.removed.length > 0) return { next }
  const count = (after: number, until: number) =>
    steps.count(Math.floor(after / 1000), Math.floor(until / 1000))
  return { next, count }
}

function lastOf({ count, until }: RruleParts, first: number, everyS: number, zone: string): number {
  if (count !== undefined) return first + (count - 1) * everyS
  if (until === undefined) return Number.POSITIVE_INFINITY
  // A day counts to its end, whatever its length.
  if (until.kind === 'date') return instantOf({ kind: 'local', second: until.second + DAY_S }, zone) - 1
  return instantOf(until, zone)
}

/** The end of the day of a second, or of its offset period if that is earlier; null if it is not one of these days. */
function endOfDayIn(days: ReadonlySet<number>, second: number, zone: string): number | null {
  if (days.size === 0) return null
  const { offset, end } = offsetPeriodAt(zone, second * 1000)
  const day = Math.floor((second + offset / 1000) / DAY_S)
  return days.has(day) ? Math.min((day + 1) * DAY_S - offset / 1000, end / 1000) : null
}
