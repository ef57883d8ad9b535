import type { Lease } from '../index.ts'

/** What wakes is written ahead of its time, or shortly after: what lies further back is looked for now and then. */
export const RECENT_MS = 60_000

/** What was found when a look came back with nothing to do. */
interface Quiet {
  readonly leases: string
  readonly nextWakeAt: number | null
}

/** A place among the timers of a shard, in the order of the due index. */
export interface Place {
  readonly wakeAt: number
  readonly id: number
}

const START: Place = { wakeAt: 0, id: 0 }

/** A look under way: what was written since it began may not be in it. */
export class Look {
  readonly #heard = new Map<number | null, number>()

  hear(shard: number | null, wakeAt: number): void {
    this.#heard.set(shard, Math.min(wakeAt, this.#heard.get(shard) ?? wakeAt))
  }

  /** How far it has seen everything of a shard, if that is as far as this. */
  upTo(shard: number, place: Place): Place {
    const missed = Math.min(this.#heard.get(shard) ?? Infinity, this.#heard.get(null) ?? Infinity)
    return missed <= place.wakeAt ? { wakeAt: missed, id: 0 } : place
  }
}

/**
 * What this process knows of its shards without asking: up to which place nothing waits but what it holds, and when the
 * next one comes. Whatever writes a timer, here or elsewhere, tells it.
 */
export class Lookout {
  readonly #lows = new Map<number, Place>()
  readonly #looks = new Set<Look>()
  #quiet: Quiet | null = null
  #news = 0

  /** Counts what was heard: that nothing is due is worth remembering only if nothing came meanwhile. */
  get news(): number {
    return this.#news
  }

  /** Up to here nothing waits in the shard (hazard 11: a look from there passes over what was fired before). */
  low(shard: number): Place {
    return this.#lows.get(shard) ?? START
  }

  /** The same of several, as a statement wants them. */
  lows(shards: readonly number[]): [wakeAts: number[], ids: number[]] {
    const places = shards.map((shard) => this.low(shard))
    return [places.map(({ wakeAt }) => wakeAt), places.map(({ id }) => id)]
  }

  /** Runs a look, which may tell how far nothing waits any more. */
  async during<T>(work: (look: Look) => Promise<T>): Promise<T> {
    const look = new Look()
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
  raise(look: Look, shard: number, place: Place, beganAtLow = true): void {
    if (!this.#looks.has(look)) return
    const seen = look.upTo(shard, place)
    const isBelow = isBefore(seen, this.low(shard))
    // What it found below the bound, others that are under way may have begun above.
    if (isBelow) for (const each of this.#looks) each.hear(shard, seen.wakeAt)
    if (isBelow || beganAtLow) this.#lows.set(shard, seen)
  }

  /** A timer was written: in one shard, or in any where it is not known which. */
  lower(shard: number | null, wakeAt: number): void {
    this.#news += 1
    for (const look of this.#looks) look.hear(shard, wakeAt)
    for (const [known, low] of this.#lows) {
      if ((shard === null || shard === known) && wakeAt <= low.wakeAt)
        this.#lows.set(known, { wakeAt, id: 0 })
    }
    if (this.#quiet !== null && (this.#quiet.nextWakeAt === null || wakeAt < this.#quiet.nextWakeAt))
      this.#quiet = null
  }

  /** Forgets everything, also what looks under way will find: the next one has no lower bound, and asks. */
  sweep(): void {
    this.#news += 1
    this.#lows.clear()
    this.#looks.clear()
    this.#quiet = null
  }

  /** The heartbeat looked on its own, and found this to be the first of all; answers whether that is news. */
  heardOf(nextWakeAt: number | null): boolean {
    const quiet = this.#quiet
    if (quiet === null || nextWakeAt === null) return false
    if (quiet.nextWakeAt !== null && nextWakeAt >= quiet.nextWakeAt) return false
    this.#news += 1
    this.#quiet = null
    return true
  }

  /** Remembers that nothing is due before this, if nothing was heard since the look began. */
  rest(leases: readonly Lease[], nextWakeAt: number | null, news: number): void {
    if (news === this.#news) this.#quiet = { leases: nameOf(leases), nextWakeAt }
  }

  /** When the next one comes, where that is known and yet to come: then there is nothing to ask. */
  quiet(leases: readonly Lease[], now: number): Quiet | null {
    const quiet = this.#quiet
    if (quiet === null || (quiet.nextWakeAt !== null && quiet.nextWakeAt <= now)) return null
    return quiet.leases === nameOf(leases) ? quiet : null
  }
}

function isBefore(a: Place, b: Place): boolean {
  return a.wakeAt < b.wakeAt || (a.wakeAt === b.wakeAt && a.id < b.id)
}

function nameOf(leases: readonly Lease[]): string {
  return leases.map(({ shard, epoch }) => `${shard}:${epoch}`).join()
}
