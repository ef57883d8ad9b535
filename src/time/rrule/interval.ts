import { type Instants, offsetPeriodAt } from '../zones/index.ts'
import { DAY_S } from './civil-date.ts'
import { addedDates, instantOf } from './moment.ts'
import type { RruleParts } from './parts.ts'
import { type RruleOrigin, UNIT_S } from './recurrence-set.ts'
import { list } from './sequence.ts'
import type { RruleText } from './text.ts'

/**
 * The interval of a recurrence with a fixed one: a single RRULE of hours, minutes or seconds without BY parts. Null for
 * recurrences that follow the wall clock.
 */
export function rruleInterval({ rules }: RruleText): number | null {
  const [parts, another] = rules
  if (parts === undefined || another !== undefined || parts.freq === 'DAILY') return null
  const unitS = UNIT_S[parts.freq]
  if (unitS === undefined || Object.keys(parts).some((name) => name.startsWith('by'))) return null
  return parts.interval * unitS * 1000
}

/** The instants of a recurrence with a fixed interval, which clock changes do not affect. */
export function intervalInstants(
  read: RruleText,
  everyMs: number,
  origin: RruleOrigin,
  zone: string,
): Instants {
  const first = origin.fromS > origin.startS ? origin.startAt + everyMs : origin.startAt
  const last = lastOf(read.rules[0]!, first, everyMs, zone)
  const instants = (moments: RruleText['added']) => moments.map((moment) => instantOf(moment, zone) * 1000)
  const days = read.removed.filter(({ kind }) => kind === 'date').map(({ second }) => second / DAY_S)
  const added = list([...new Set(instants(addedDates(read, origin.startS)))].sort((a, b) => a - b))
  const removed = new Set(instants(read.removed.filter(({ kind }) => kind !== 'date')))
  const removedDays = new Set(days)

  const step = (after: number) => {
    const found = after < first ? first : first + (Math.floor((after - first) / everyMs) + 1) * everyMs
    return found > last ? Number.POSITIVE_INFINITY : found
  }
  const next = (after: number): number | null => {
    for (let from = after; ; ) {
      const index = added.indexFrom(Math.floor(from) + 1)
      const found = Math.min(step(from), index < added.length ? added.at(index) : Number.POSITIVE_INFINITY)
      if (found === Number.POSITIVE_INFINITY) return null
      const dayEnd = removedDays.size === 0 ? null : endOfDayIn(removedDays, found, zone)
      if (dayEnd !== null) from = dayEnd - 1
      else if (removed.has(found)) from = found
      else return found
    }
  }
  const plain = added.length + removed.size + removedDays.size === 0
  if (!plain) return { next }
  const upTo = (at: number) => (at < first ? 0 : Math.floor((Math.min(at, last) - first) / everyMs) + 1)
  return { next, count: (after, until) => Math.max(0, upTo(until) - upTo(after)) }
}

function lastOf({ count, until }: RruleParts, first: number, everyMs: number, zone: string): number {
  if (count !== undefined) return first + (count - 1) * everyMs
  if (until === undefined) return Number.POSITIVE_INFINITY
  // A day counts to its end, whatever its length.
  const end = until.kind === 'date' ? { kind: 'local' as const, second: until.second + DAY_S } : until
  return instantOf(end, zone) * 1000 - (until.kind === 'date' ? 1 : 0)
}

/** The end of the instant's day, or of its offset period if that is earlier; null if it is not one of these days. */
function endOfDayIn(days: ReadonlySet<number>, instant: number, zone: string): number | null {
  const { offset, end } = offsetPeriodAt(zone, instant)
  const day = Math.floor((instant + offset) / (DAY_S * 1000))
  return days.has(day) ? Math.min((day + 1) * DAY_S * 1000 - offset, end) : null
}
