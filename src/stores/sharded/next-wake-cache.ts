import type { Serial } from '../../alarm/index.ts'
import type { Lease } from '../index.ts'

/** Timers are written ahead of their time, or shortly after: rows further back are searched only now and then. */
export const RECENT_MS = 60_000

/** The first wake of each shard that is not in flight; shards without timers are missing. */
export type NextWakes = ReadonlyMap<number, number>

/** The result of the last scan, under these leases. */
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

/** A scan in progress: it may not see what is written after it began. */
export class Scan {
  /** The earliest wake that was written since, by shard; under null if the shard is unknown. */
  readonly #written = new Map<number | null, number>()

  note(shard: number | null, wakeAt: number): void {
    this.#written.set(shard, Math.min(wakeAt, this.#written.get(shard) ?? wakeAt))
  }

  /** The first wakes that it found, combined with those written in the meantime; null if their shard is unknown. */
  with(firsts: NextWakes, shards: ReadonlySet<number>): Map<number, number> | null {
    if (this.#written.has(null)) return null
    const all = new Map(firsts)
    for (const [shard, wakeAt] of this.#written as Map<number, number>)
      if (shards.has(shard)) lowerTo(all, shard, wakeAt)
    return all
  }

  /** The position up to which it has seen everything of a shard, if it read that far. */
  upTo(shard: number, position: Position): Position {
    const missed = Math.min(this.#written.get(shard) ?? Infinity, this.#written.get(null) ?? Infinity)
    return missed <= position.wakeAt ? { wakeAt: missed, id: 0 } : position
  }
}

/**
 * What this process knows of its shards without a statement: the position up to which nothing waits but its timers in
 * flight, and the next wake. It is notified of every timer that is written, here or elsewhere.
 */
export class NextWakeCache {
  readonly #bounds = new Map<number, Position>()
  readonly #scans = new Set<Scan>()
  #known: Known | null = null

  /**
   * Nothing waits in the shard up to here. A scan from the start would walk over every row deleted since the oldest
   * open snapshot.
   */
  lowerBound(shard: number): Position {
    return this.#bounds.get(shard) ?? START
  }

  /** The same for several shards, one array per column. */
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
   * Notes that a scan from the bound on has found nothing up to a position but this process's timers in flight. This
   * works while timers are written, because a process that fires many needs the bound most. A scan that began
   * elsewhere can only lower the bound.
   */
  raiseLowerBound(scan: Scan, shard: number, position: Position, beganAtBound = true): void {
    if (!this.#scans.has(scan)) return
    const seen = scan.upTo(shard, position)
    const isBelow = isBefore(seen, this.lowerBound(shard))
    // Concurrent scans may have begun above what this one found below the bound.
    if (isBelow) for (const each of this.#scans) each.note(shard, seen.wakeAt)
    if (isBelow || beganAtBound) this.#bounds.set(shard, seen)
  }

  /** Notes a timer that was written, in one shard or in an unknown one: lowers the bounds that are after its wake. */
  noteWake(shard: number | null, wakeAt: number): void {
    for (const scan of this.#scans) scan.note(shard, wakeAt)
    for (const [known, bound] of this.#bounds) {
      if ((shard === null || shard === known) && wakeAt <= bound.wakeAt)
        this.#bounds.set(known, { wakeAt, id: 0 })
    }
    if (shard === null) this.#known = null
    else if (this.#known?.shards.has(shard)) lowerTo(this.#known.firsts, shard, wakeAt)
  }

  /** Forgets what is known of a shard: another process may have written timers there. */
  forget(shard: number): void {
    this.noteWake(shard, 0)
  }

  /** Clears everything, also for scans in progress: the next one starts from the beginning. */
  clear(): void {
    this.#bounds.clear()
    this.#scans.clear()
    this.#known = null
  }

  /** Adds the result of a heartbeat; returns whether one wake comes before all that was known. */
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

  /** Keeps the result of a scan: until its time comes, or another timer is written, no statement is needed. */
  keep(scan: Scan, leases: readonly Lease[], firsts: NextWakes): void {
    const shards = new Set(leases.map(({ shard }) => shard))
    const all = this.#scans.has(scan) ? scan.with(firsts, shards) : null
    this.#known = all === null ? null : { leases: nameOf(leases), shards, firsts: all }
  }

  /** The first wake of each of these shards, if known. */
  known(leases: readonly Lease[]): NextWakes | null {
    return this.#known?.leases === nameOf(leases) ? new Map(this.#known.firsts) : null
  }
}

/** The earliest of all, or null. */
export function earliestOf(firsts: NextWakes): number | null {
  return firsts.size === 0 ? null : Math.min(...firsts.values())
}

/** Notes a wake of a shard, if it is earlier than the known one. */
export function lowerTo(firsts: Map<number, number>, shard: number, wakeAt: number): void {
  firsts.set(shard, Math.min(wakeAt, firsts.get(shard) ?? wakeAt))
}

function isBefore(a: Position, b: Position): boolean {
  return a.wakeAt < b.wakeAt || (a.wakeAt === b.wakeAt && a.id < b.id)
}

function nameOf(leases: readonly Lease[]): string {
  return leases.map(({ shard, epoch }) => `${shard}:${epoch}`).join()
}
