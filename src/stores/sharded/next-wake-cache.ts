import type { Serial } from '../../alarm/index.ts'
import type { Lease } from '../index.ts'

/** Timers are written ahead of their time, or shortly after: what lies further back is looked for only now and then. */
export const RECENT_MS = 60_000

/** The first wake of each shard that is not in flight; a shard in which nothing waits is missing. */
export type NextWakes = ReadonlyMap<number, number>

/** What the last scan has found, under these leases. */
interface Known {
  readonly leases: string
  readonly shards: ReadonlySet<number>
  readonly firsts: Map<number, number>
}

/** A position among the timers of a shard, in the order of the due index. */
export interface Position {
  readonly wakeAt: number
  readonly id: Serial
}

const START: Position = { wakeAt: 0, id: 0 }

/** A scan under way: what was written since it began may not be in it. */
export class Scan {
  /** The earliest wake that was written since, by shard; under null where the shard is not known. */
  readonly #written = new Map<number | null, number>()

  note(shard: number | null, wakeAt: number): void {
    this.#written.set(shard, Math.min(wakeAt, this.#written.get(shard) ?? wakeAt))
  }

  /** What it has found in shards, with what was written there meanwhile; null where it is not known where that was. */
  with(firsts: NextWakes, shards: ReadonlySet<number>): Map<number, number> | null {
    if (this.#written.has(null)) return null
    const all = new Map(firsts)
    for (const [shard, wakeAt] of this.#written as Map<number, number>)
      if (shards.has(shard)) lowerTo(all, shard, wakeAt)
    return all
  }

  /** How far it has seen everything of a shard, if it has looked as far as this. */
  upTo(shard: number, position: Position): Position {
    const missed = Math.min(this.#written.get(shard) ?? Infinity, this.#written.get(null) ?? Infinity)
    return missed <= position.wakeAt ? { wakeAt: missed, id: 0 } : position
  }
}

/**
 * What this process knows of its shards without asking: up to which position nothing waits but what it has in flight, and
 * when the next one comes. It is notified of every timer that is written, here or elsewhere.
 */
export class NextWakeCache {
  readonly #bounds = new Map<number, Position>()
  readonly #scans = new Set<Scan>()
  #known: Known | null = null

  /**
   * Up to here nothing waits in the shard. A scan from the start would walk over everything that was fired since the oldest
   * open snapshot.
   */
  lowerBound(shard: number): Position {
    return this.#bounds.get(shard) ?? START
  }

  /** The same of several, one list per column. */
  lowerBounds(shards: readonly number[]): [wakeAts: number[], ids: Serial[]] {
    const bounds = shards.map((shard) => this.lowerBound(shard))
    return [bounds.map(({ wakeAt }) => wakeAt), bounds.map(({ id }) => id)]
  }

  /** Runs a scan, which may raise the bounds. */
  async scan<T>(work: (scan: Scan) => Promise<T>): Promise<T> {
    const scan = new Scan()
    this.#scans.add(scan)
    try {
      return await work(scan)
    } finally {
      this.#scans.delete(scan)
    }
  }

  /**
   * Notes that a scan from the bound on has found nothing up to a position but what this process has in flight. Also where
   * timers are written all the time: a process that fires much needs the bound the most. A scan that began elsewhere only
   * lowers it.
   */
  raise(scan: Scan, shard: number, position: Position, beganAtBound = true): void {
    if (!this.#scans.has(scan)) return
    const seen = scan.upTo(shard, position)
    const isBelow = isBefore(seen, this.lowerBound(shard))
    // What it found below the bound, others that are under way may have begun above.
    if (isBelow) for (const each of this.#scans) each.note(shard, seen.wakeAt)
    if (isBelow || beganAtBound) this.#bounds.set(shard, seen)
  }

  /** A timer was written: in one shard, or in any where it is not known which. */
  lower(shard: number | null, wakeAt: number): void {
    for (const scan of this.#scans) scan.note(shard, wakeAt)
    for (const [known, bound] of this.#bounds) {
      if ((shard === null || shard === known) && wakeAt <= bound.wakeAt)
        this.#bounds.set(known, { wakeAt, id: 0 })
    }
    if (shard === null) this.#known = null
    else if (this.#known?.shards.has(shard)) lowerTo(this.#known.firsts, shard, wakeAt)
  }

  /** Forgets everything, also what scans under way will find: the next one begins at the start. */
  clear(): void {
    this.#bounds.clear()
    this.#scans.clear()
    this.#known = null
  }

  /** Takes in what a heartbeat has found; returns whether one of them comes before all that was known. */
  noteHeartbeat(firsts: ReadonlyMap<number, number | null>): boolean {
    const next = this.#known === null ? null : earliestOf(this.#known.firsts)
    let isEarlier = false
    for (const [shard, first] of firsts) {
      if (first === null) continue
      for (const scan of this.#scans) scan.note(shard, first)
      if (!this.#known?.shards.has(shard)) continue
      lowerTo(this.#known.firsts, shard, first)
      isEarlier ||= next === null || first < next
    }
    return isEarlier
  }

  /** Remembers what a scan has found: until it comes, or another is written, there is nothing to ask. */
  keep(scan: Scan, leases: readonly Lease[], firsts: NextWakes): void {
    const shards = new Set(leases.map(({ shard }) => shard))
    const all = this.#scans.has(scan) ? scan.with(firsts, shards) : null
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
