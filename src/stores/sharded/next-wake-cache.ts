import type { Serial } from '../../alarm/index.ts'
import type { Lease } from '../index.ts'

/** What wakes is written ahead of its time, or shortly after: what lies further back is looked for now and then. */
export const RECENT_MS = 60_000

/** The first wake of each shard that is not held already; where there is none, the shard is missing. */
export type NextWakes = ReadonlyMap<number, number>

/** What the last look has found, under these leases. */
interface Known {
  readonly leases: string
  readonly shards: ReadonlySet<number>
  readonly firsts: Map<number, number>
}

/** A place among the timers of a shard, in the order of the due index. */
export interface Position {
  readonly wakeAt: number
  readonly id: Serial
}

const START: Position = { wakeAt: 0, id: 0 }

/** A look under way: what was written since it began may not be in it. */
export class Scan {
  readonly #heard = new Map<number | null, number>()

  hear(shard: number | null, wakeAt: number): void {
    this.#heard.set(shard, Math.min(wakeAt, this.#heard.get(shard) ?? wakeAt))
  }

  /** What it has found in shards, with what was written there meanwhile; null where nobody knows where that was. */
  with(firsts: NextWakes, shards: ReadonlySet<number>): Map<number, number> | null {
    if (this.#heard.has(null)) return null
    const all = new Map(firsts)
    for (const [shard, wakeAt] of this.#heard as Map<number, number>)
      if (shards.has(shard)) lowerTo(all, shard, wakeAt)
    return all
  }

  /** How far it has seen everything of a shard, if that is as far as this. */
  upTo(shard: number, place: Position): Position {
    const missed = Math.min(this.#heard.get(shard) ?? Infinity, this.#heard.get(null) ?? Infinity)
    return missed <= place.wakeAt ? { wakeAt: missed, id: 0 } : place
  }
}

/**
 * What this process knows of its shards without asking: up to which place nothing waits but what it holds, and when the
 * next one comes. Whatever writes a timer, here or elsewhere, tells it.
 */
export class NextWakeCache {
  readonly #lows = new Map<number, Position>()
  readonly #looks = new Set<Scan>()
  #known: Known | null = null

  /** Up to here nothing waits in the shard (hazard 11: a look from there passes over what was fired before). */
  lowerBound(shard: number): Position {
    return this.#lows.get(shard) ?? START
  }

  /** The same of several, as a statement wants them. */
  lowerBounds(shards: readonly number[]): [wakeAts: number[], ids: Serial[]] {
    const places = shards.map((shard) => this.lowerBound(shard))
    return [places.map(({ wakeAt }) => wakeAt), places.map(({ id }) => id)]
  }

  /** Runs a look, which may tell how far nothing waits any more. */
  async scan<T>(work: (look: Scan) => Promise<T>): Promise<T> {
    const look = new Scan()
    this.#looks.add(look)
    try {
      return await work(look)
    } finally {
      this.#looks.delete(look)
    }
  }

  /**
   * Notes that a look from `low` on has found nothing up to a place but what this process holds. Also where timers are
   * written all the time: a process that fires much needs the bound the most. A look that began elsewhere only lowers it.
   */
  raise(look: Scan, shard: number, place: Position, beganAtLow = true): void {
    if (!this.#looks.has(look)) return
    const seen = look.upTo(shard, place)
    const isBelow = isBefore(seen, this.lowerBound(shard))
    // What it found below the bound, others that are under way may have begun above.
    if (isBelow) for (const each of this.#looks) each.hear(shard, seen.wakeAt)
    if (isBelow || beganAtLow) this.#lows.set(shard, seen)
  }

  /** A timer was written: in one shard, or in any where it is not known which. */
  lower(shard: number | null, wakeAt: number): void {
    for (const look of this.#looks) look.hear(shard, wakeAt)
    for (const [known, low] of this.#lows) {
      if ((shard === null || shard === known) && wakeAt <= low.wakeAt)
        this.#lows.set(known, { wakeAt, id: 0 })
    }
    if (shard === null) this.#known = null
    else if (this.#known?.shards.has(shard)) lowerTo(this.#known.firsts, shard, wakeAt)
  }

  /** Forgets everything, also what looks under way will find: the next one has no lower bound, and asks. */
  sweep(): void {
    this.#lows.clear()
    this.#looks.clear()
    this.#known = null
  }

  /** The heartbeat looked on its own, and found these; answers whether one of them comes before all that was known. */
  heardOf(firsts: ReadonlyMap<number, number | null>): boolean {
    const next = this.#known === null ? null : earliestOf(this.#known.firsts)
    let isNews = false
    for (const [shard, first] of firsts) {
      if (first === null) continue
      for (const look of this.#looks) look.hear(shard, first)
      if (!this.#known?.shards.has(shard)) continue
      lowerTo(this.#known.firsts, shard, first)
      isNews ||= next === null || first < next
    }
    return isNews
  }

  /** Remembers what a look has found: until it comes, or another is written, there is nothing to ask. */
  keep(look: Scan, leases: readonly Lease[], firsts: NextWakes): void {
    const shards = new Set(leases.map(({ shard }) => shard))
    const all = this.#looks.has(look) ? look.with(firsts, shards) : null
    this.#known = all === null ? null : { leases: nameOf(leases), shards, firsts: all }
  }

  /** The first wake of each of these shards, where that is known. */
  known(leases: readonly Lease[]): NextWakes | null {
    return this.#known?.leases === nameOf(leases) ? new Map(this.#known.firsts) : null
  }
}

/** The first of all, or null. */
export function earliestOf(firsts: NextWakes): number | null {
  return firsts.size === 0 ? null : Math.min(...firsts.values())
}

/** Notes that a shard wakes at this, unless it does before. */
export function lowerTo(firsts: Map<number, number>, shard: number, wakeAt: number): void {
  firsts.set(shard, Math.min(wakeAt, firsts.get(shard) ?? wakeAt))
}

function isBefore(a: Position, b: Position): boolean {
  return a.wakeAt < b.wakeAt || (a.wakeAt === b.wakeAt && a.id < b.id)
}

function nameOf(leases: readonly Lease[]): string {
  return leases.map(({ shard, epoch }) => `${shard}:${epoch}`).join()
}
