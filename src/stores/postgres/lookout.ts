import type { Lease } from '../index.ts'

/** What was found when a look came back with nothing to do. */
interface Quiet {
  readonly leases: string
  readonly nextWakeAt: number | null
}

/**
 * What this process knows of its shards without asking: below which instant nothing waits, and when the next one comes.
 * Whatever writes a timer, here or elsewhere, tells it.
 */
export class Lookout {
  readonly #lows = new Map<number, number>()
  #quiet: Quiet | null = null
  #news = 0

  /** Counts what was heard: a look is worth remembering only if nothing came meanwhile. */
  get news(): number {
    return this.#news
  }

  /** Below this nothing waits in the shard (hazard 11: a look from there passes over what was fired before). */
  low(shard: number): number {
    return this.#lows.get(shard) ?? 0
  }

  /** Notes the first wake that a look from `low` on has found, or that there was none up to a moment. */
  raise(shard: number, first: number, news: number): void {
    if (news === this.#news) this.#lows.set(shard, first)
  }

  /** A timer was written: in one shard, or in any where it is not known which. */
  lower(shard: number | null, wakeAt: number): void {
    this.#news += 1
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
    this.#quiet = null
  }

  /** The heartbeat looked without a lower bound, and found this to be the first; answers whether that is news. */
  heardOf(nextWakeAt: number | null): boolean {
    this.#lows.clear()
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
