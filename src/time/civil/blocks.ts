import { measureSearchWork, recordSearchWork } from '../clock/index.ts'
import { WALL_S_MAX } from './date.ts'
import type { Sequence } from './sequence.ts'

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
