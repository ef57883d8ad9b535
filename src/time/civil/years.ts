import { recordSearchWork } from '../clock/index.ts'
import type { Block, Blocks } from './blocks.ts'
import { DAY_S, isLeap, WALL_S_MAX, weekdayOf, yearOf, yearStart } from './date.ts'
import { list, product, type Sequence, stride } from './sequence.ts'

/** The days that a rule names in a year; January 1 is 0. */
export type DaysOfYear = (year: number) => Sequence

/** All days of a year. */
export const everyDay: DaysOfYear = (year) => stride(0, 1, isLeap(year) ? 366 : 365)

/**
 * Caches the days of a year by its kind. They depend only on the weekday of January 1, and on which of the year and its
 * neighbours is a leap year: at most 28 kinds.
 */
export function daysByKind(find: (year: number) => readonly number[]): DaysOfYear {
  const cached: Sequence[] = []
  return (year) => {
    const kind = weekdayOf(yearStart(year)) * 4 + leapKind(year)
    cached[kind] ??= list(find(year))
    return cached[kind]
  }
}

/** Which of the year and its neighbours is a leap year; never two of them. */
function leapKind(year: number): 0 | 1 | 2 | 3 {
  if (isLeap(year)) return 1
  if (isLeap(year - 1)) return 2
  return isLeap(year + 1) ? 3 : 0
}

/** Years as blocks, for rules with the same times on every named day. Nothing is searched before `startS`. */
export function yearBlocks(days: DaysOfYear, times: Sequence, startS: number): Blocks {
  // The year of the last call is cached, because the next call is usually in the same one.
  let cachedYear = Number.NaN
  let end = 0
  let block: Block = { start: 0, instances: list([]) }
  return {
    idAt(second) {
      const from = Math.max(second, startS)
      return from >= block.start && from < end ? cachedYear : yearOf(Math.floor(from / DAY_S))
    },
    nextId: (year) => year + 1,
    block(year) {
      if (year === cachedYear) return block
      block = { start: yearStart(year) * DAY_S, instances: product(days(year), DAY_S, times) }
      end = yearStart(year + 1) * DAY_S
      cachedYear = year
      return block
    },
    cycle: 400,
    dailyMax: times.length,
  }
}

/** Finds the first named day at or after another, in days since 1970-01-01; Infinity if none is before the year 10000. */
export function dayFinder(days: DaysOfYear): (from: number) => number {
  // The year of the last call is cached, as above.
  let start = 0
  let end = 0
  let named = everyDay(0)
  const loadYear = (year: number) => {
    start = yearStart(year)
    end = yearStart(year + 1)
    named = days(year)
  }
  return (from) => {
    if (from < start || from >= end) loadYear(yearOf(from))
    let index = named.indexFrom(from - start)
    while (index >= named.length) {
      if (end * DAY_S > WALL_S_MAX) return Number.POSITIVE_INFINITY
      recordSearchWork(1)
      loadYear(yearOf(end))
      index = 0
    }
    return start + named.at(index)
  }
}
