import { DAY_MS } from '../durations/index.ts'
import { DST_DEFAULT, type Instants, instantsOfWallTimes, offsetPeriodAt } from '../zones/index.ts'
import type { CalendarEvery } from './rule.ts'

const YEAR_MAX = 9999

/**
 * The instants of an `every` in months or years: the anchor's local date and time of day, plus multiples of the step.
 * Each is counted from the anchor, not from the one before. From the 31st, it fires on the last day of shorter months and
 * on the 31st of longer ones; from February 29, on February 28 of the years between.
 *
 * A start is itself the first instant, even if its wall time occurs twice; without one, the first is one step after the
 * anchor.
 */
export function compileMonths(rule: CalendarEvery): Instants {
  const { anchor, everyMonths, timezone: zone } = rule
  const wall = anchor + offsetPeriodAt(zone, anchor).offset
  const first = new Date(wall)
  const dayFirst = first.getUTCDate()
  const monthFirst = first.getUTCFullYear() * 12 + first.getUTCMonth()
  const time = wall - Math.floor(wall / DAY_MS) * DAY_MS

  const stepAt = (index: number): number => {
    const month = monthFirst + index * everyMonths
    const [year, inYear] = [Math.floor(month / 12), month % 12]
    const daysInMonth = new Date(Date.UTC(year, inYear + 1, 0)).getUTCDate()
    return Date.UTC(year, inYear, Math.min(dayFirst, daysInMonth)) + time
  }
  /** The index, from 1, of the first step at or after this wall time. */
  const indexFrom = (from: number): number => {
    const date = new Date(from)
    const months = date.getUTCFullYear() * 12 + date.getUTCMonth() - monthFirst
    const index = Math.max(1, Math.floor(months / everyMonths))
    return stepAt(index) >= from ? index : index + 1
  }
  const steps = instantsOfWallTimes(
    {
      next(after) {
        const next = stepAt(indexFrom(after + 1))
        return new Date(next).getUTCFullYear() > YEAR_MAX ? null : next
      },
      count: (from, to) => (to <= from ? 0 : indexFrom(to) - indexFrom(from)),
    },
    zone,
    rule.dst ?? DST_DEFAULT,
  )
  const startAt = rule.start === undefined ? Number.NEGATIVE_INFINITY : anchor
  return {
    ...steps,
    next: (after) => (after < startAt ? startAt : steps.next(Math.max(after, anchor))),
    count: (after, until) =>
      (after < startAt && startAt <= until ? 1 : 0) + steps.count!(Math.max(after, anchor), until),
  }
}
