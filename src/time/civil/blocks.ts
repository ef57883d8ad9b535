import { measureSearchWork, recordSearchWork } from '../clock/index.ts'
import { DAY_S, isLeap, WALL_S_MAX, weekdayOf, yearOf, yearStart } from './date.ts'
import { list, product, type Sequence, stride } from './sequence.ts'

/** A year, month, week or day of the wall clock, with the instances of a rule in it. */
export interface Block {
  /** The second at which it starts. */
  start: number
  /** Its instances, in seconds since its start. */
  instances: Sequence
}

/** The blocks in which the instances of one rule are searched. All times are seconds of the wall clock. */
export interface Blocks {
  /** The id of the first block that ends after this second; Infinity if there is none. */
  idAt(second: number): number
  /** The id of the block after this one; Infinity if there is none. */
  nextId(id: number): number
  block(id: number): Block
  /** After this many ids the blocks repeat, as the calendar does every 400 years. A search without a result stops there. */
  cycle: number
  /** No day has more instances than this. */
  dailyMax: number
  /** The search work of one block; above 1 if its instances are expensive to find, so that searches give up sooner. */
  cost?: number
}

/**
 * Blocks visited before a search gives up: a few milliseconds, or more than 150 years of days. Blocks that `nextId`
 * skips cost as much as visited ones.
 */
export const SEARCH_WORK_MAX = 60_000

/** The nth instance (from 1) at or after a second; null if the year 10000 or the search limit comes first. */
export function nthFrom(blocks: Blocks, second: number, nth = 1): number | null {
  const work = measureSearchWork()
  let remaining = nth
  let id = blocks.idAt(second)
  const end = id + blocks.cycle
  // If a whole cycle has no instance, there is none at all. If it has one, later cycles have it too.
  for (; work() < SEARCH_WORK_MAX && (id <= end || remaining < nth); id = blocks.nextId(id)) {
    recordSearchWork(blocks.cost ?? 1)
    const block = blockAt(blocks, id)
    if (block === null) return null
    const { start, instances } = block
    // Only the first block can start before the second.
    const passed = start < second ? instances.indexFrom(second - start) : 0
    const index = passed + remaining - 1
    if (index < instances.length) {
      const found = start + instances.at(index)
      return found <= WALL_S_MAX ? found : null
    }
    remaining = index + 1 - instances.length
  }
  return null
}

/** How many instances are in [from, to). */
export function countIn(blocks: Blocks, from: number, to: number): number {
  if (from >= to) return 0
  const last = blocks.idAt(to)
  let id = blocks.idAt(from)
  let count = countBefore(blocks, last, to) - countBefore(blocks, id, from)
  for (; id < last; id = blocks.nextId(id)) {
    recordSearchWork(blocks.cost ?? 1)
    const block = blockAt(blocks, id)
    if (block === null) break
    count += block.instances.length
  }
  return count
}

/** How many instances of this block are before a second. */
function countBefore(blocks: Blocks, id: number, second: number): number {
  const block = blockAt(blocks, id)
  return block === null || block.start >= second ? 0 : block.instances.indexFrom(second - block.start)
}

function blockAt(blocks: Blocks, id: number): Block | null {
  if (id === Number.POSITIVE_INFINITY) return null
  const block = blocks.block(id)
  return block.start > WALL_S_MAX ? null : block
}

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
