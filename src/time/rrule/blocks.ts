import { measureSearchWork, recordSearchWork } from '../clock/index.ts'
import { WALL_S_MAX } from './civil-date.ts'
import type { Sequence } from './sequence.ts'

/** A stretch of the wall clock (a year, month, week or day) with the instances of a rule in it. */
export interface Block {
  /** The second it starts at. */
  start: number
  /** Its instances, in seconds since its start. */
  instances: Sequence
}

/** The stretches in which the instances of one rule are looked for. All times are seconds of the wall clock. */
export interface Blocks {
  /** The number of the first block that ends after this second; Infinity where none does. */
  idAt(second: number): number
  /** The number of the block that follows; Infinity where none does. */
  nextId(id: number): number
  block(id: number): Block
  /** After so many numbers the blocks hold the same again: the calendar repeats itself every 400 years. */
  span: number
  /** At most `count` instances lie in a stretch of `everyS` seconds. */
  densityMax: { everyS: number; count: number }
  /** Above 1 where it takes work to find what is in a block: searches give up sooner. */
  cost?: number
}

/**
 * Blocks looked at before a search is given up, which is a few milliseconds: of days, more than 150 years. A search
 * for the next block counts what it passes over as looked at.
 */
export const SEARCH_WORK_MAX = 60_000

/** The first instance at or after a second; null where there is none before the year 10000. */
export function firstFrom(blocks: Blocks, second: number): number | null {
  const work = measureSearchWork()
  let id = blocks.idAt(second)
  const end = id + blocks.span
  for (let isFirst = true; work() < SEARCH_WORK_MAX && id <= end; isFirst = false, id = blocks.nextId(id)) {
    recordSearchWork(blocks.cost ?? 1)
    const block = blockAt(blocks, id)
    if (block === null) return null
    const { start, instances } = block
    // Only the first block can have begun before.
    const rank = isFirst && start < second ? instances.from(second - start) : 0
    if (rank < instances.length) return withinRange(start + instances.at(rank))
  }
  return null
}

/** The nth instance (from 1) at or after a second; null where the year 10000, or giving up, comes before. */
export function nthFrom(blocks: Blocks, second: number, nth: number): number | null {
  const work = measureSearchWork()
  let id = blocks.idAt(second)
  let spanEnd = id + blocks.span
  let inSpan = 0
  let left = nth + countBefore(blocks, id, second)
  while (work() < SEARCH_WORK_MAX) {
    recordSearchWork(blocks.cost ?? 1)
    if (id >= spanEnd) {
      // A whole span was counted: the ones like it need not be.
      if (inSpan === 0) return null
      const spans = Math.floor((left - 1) / inSpan)
      id += spans * blocks.span
      left -= spans * inSpan
      spanEnd = Number.POSITIVE_INFINITY
    }
    const block = blockAt(blocks, id)
    if (block === null) return null
    const { start, instances } = block
    if (left <= instances.length) return withinRange(start + instances.at(left - 1))
    left -= instances.length
    inSpan += instances.length
    id = blocks.nextId(id)
  }
  return null
}

/** How many instances lie in [from, to). */
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

/** How many instances of the block with this number are before a second. */
function countBefore(blocks: Blocks, id: number, second: number): number {
  const block = blockAt(blocks, id)
  return block === null || block.start >= second ? 0 : block.instances.from(second - block.start)
}

function blockAt(blocks: Blocks, id: number): Block | null {
  if (id === Number.POSITIVE_INFINITY) return null
  const block = blocks.block(id)
  return block.start > WALL_S_MAX ? null : block
}

function withinRange(second: number): number | null {
  return second <= WALL_S_MAX ? second : null
}
