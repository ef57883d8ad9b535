import type { Lease } from '../index.ts'

/** What wakes is written ahead of its time, or shortly after: what lies further back is looked for now and then. */
export const RECENT_MS = 60_000

/** What was found when a look came back with nothing to do. */
interface Quiet {
  readonly leases: string
  readonly nextWakeAt: number | null
}

/** A look that is under way: what was written since it began, it may not have seen. */
export class Look {
  #anywhere = Number.POSITIVE_INFINITY
  readonly #lowest = new Map<number, number>()

  /** Notes what was written, in a shard or in any. */
  lower(shard: number | null, wakeAt: number): void {
    if (shard === null) this.#anywhere = Math.min(this.#anywhere, wakeAt)
    else this.#lowest.set(shard, Math.min(wakeAt, this.#lowest.get(shard) ?? wakeAt))
  }

  /** The first wake of a shard where the look has found this one. */
  first(shard: number, found: number): number {
    return Math.min(found, this.#anywhere, this.#lowest.get(shard) ?? found)
  }
}

/**
 * What this process knows of its shards without asking: below which instant nothing waits, and when the next one comes.
 * Whatever writes a timer, here or elsewhere, tells it.
 */
export class Lookout {
  readonly #lows = new Map<number, number>()
  #quiet: Quiet | null = null
  readonly #looks = new Set<Look>()
  #news = 0

  /** Counts what was heard: a look is worth remembering only if nothing came meanwhile. */
  get news(): number {
    return this.#news
  }

  /** Below this nothing waits in the shard (hazard 11: a look from there passes over what was fired before). */
  low(shard: number): number {
    return this.#lows.get(shard) ?? 0
  }

  /** Begins a look; whatever is written until its end is held against what it finds. */
  async looking<T>(work: (look: Look) => Promise<T>): Promise<T> {
    const look = new Look()
    this.#looks.add(look)
    try {
      return await work(look)
    } finally {
      this.#looks.delete(look)
    }
  }

  /**
   * Notes the first wake that a look from `low` on has found, or that there was none up to a moment. Also where timers are
   * written all the time: a process that fires much needs the bound the most. A look that began elsewhere can only lower it.
   */
  raise(shard: number, first: number, look: Look, beganAtLow = true): void {
    if (!this.#looks.has(look)) return
    const found = look.first(shard, first)
    // What it found below the bound, others that are under way may have begun above.
    if (found < this.low(shard)) for (const each of this.#looks) each.lower(shard, found)
    this.#lows.set(shard, beganAtLow ? found : Math.min(found, this.low(shard)))
  }

  /** A timer was written: in one shard, or in any where it is not known which. */
  lower(shard: number | null, wakeAt: number): void {
    this.#news += 1
    for (const look of this.#looks) look.lower(shard, wakeAt)
    for (const [known, low] of this.#lows) {
      if ((shard === null || shard === known) && wakeAt < low) this.#lows.set(known, wakeAt)
    }
    if (this.#quiet !== null && (this.#quiet.nextWakeAt === null || wakeAt < this.#quiet.nextWakeAt))
      this.#quiet = null
  }

  /** Forgets everything: the next look has no lower bound, and asks. */
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

function nameOf(leases: readonly Lease[]): string {
  return leases.map(({ shard, epoch }) => `${shard}:${epoch}`).join()
}
