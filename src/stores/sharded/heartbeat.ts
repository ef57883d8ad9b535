import type { Values } from '../index.ts'

/** What a process sees of another. */
export interface Other {
  readonly owner: string
  readonly beats: number
  readonly leaseUntil: number
  readonly pools: readonly string[]
}

/** What a process sees of a shard. */
export interface SeenShard {
  readonly pool: string
  readonly shard: number
  readonly epoch: number
  readonly owner: string | null
}

/** What a heartbeat brought. */
export interface Beat {
  /** Grows with every takeover from this process. */
  readonly lost: number
  /** The clock of leases: the database's, or the one that was bound. */
  readonly now: number
  readonly others: readonly Other[]
  readonly shards: readonly SeenShard[]
  /** The first wake of each of this process's own shards; null where nothing waits. */
  readonly firsts: ReadonlyMap<number, number | null>
}

type BeatValues = [string, string, number | null, number, string | null, readonly string[] | null]

/** Reads the rows of a heartbeat, whatever their order. */
export function beatOf(rows: readonly Values[]): Beat {
  const of = (kind: string) => (rows as readonly BeatValues[]).filter(([each]) => each === kind)
  const [beat] = of('beat')
  return {
    lost: beat![2]!,
    now: beat![3],
    firsts: new Map(of('next').map(([, , wakeAt, shard]) => [shard, wakeAt])),
    others: of('owner').map(([, owner, beats, leaseUntil, , pools]) => {
      return { owner, beats: beats!, leaseUntil, pools: pools ?? [] }
    }),
    shards: of('shard').map(([, pool, shard, epoch, owner]) => ({ pool, shard: shard!, epoch, owner })),
  }
}

/** What was last seen of another's beat, and since when on this process's own clock. */
interface Sighting {
  readonly beats: number
  readonly since: number
}

/**
 * Tells who is dead. A lease ends by the database's clock. Where that cannot be believed, after a failover to a server
 * whose clock is behind or ahead, a beat that has not moved for a whole lease on our own monotonic clock is an end too,
 * and the only one while the clock has just jumped (hazard 14).
 */
export class Sightings {
  readonly #leaseMs: number
  readonly #seen = new Map<string, Sighting>()
  #jumpedAt = Number.NEGATIVE_INFINITY
  #last: { readonly now: number; readonly at: number } | null = null

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs
  }

  /** Takes in a heartbeat that was sent at one moment of the monotonic clock and answered at another. */
  look(beat: Beat, sentAt: number, answeredAt: number): void {
    if (this.#last !== null && beat.now - this.#last.now > answeredAt - this.#last.at + this.#leaseMs / 2)
      this.#jumpedAt = answeredAt
    this.#last = { now: beat.now, at: sentAt }
    const names = new Set(beat.others.map(({ owner }) => owner))
    for (const name of this.#seen.keys()) if (!names.has(name)) this.#seen.delete(name)
    for (const { owner, beats } of beat.others) {
      if (this.#seen.get(owner)?.beats !== beats) this.#seen.set(owner, { beats, since: answeredAt })
    }
  }

  /** Whether the clock has just jumped ahead, so that leases only seem to have ended. */
  hasJumped(at: number): boolean {
    return at - this.#jumpedAt < this.#leaseMs
  }

  /** Whether the other's beat has stood still for a whole lease. */
  isStill(other: Other, at: number): boolean {
    const seen = this.#seen.get(other.owner)
    return seen !== undefined && seen.beats === other.beats && at - seen.since >= this.#leaseMs
  }

  isDead(other: Other, now: number, at: number): boolean {
    return this.isStill(other, at) || (other.leaseUntil <= now && !this.hasJumped(at))
  }
}

/**
 * In how many milliseconds the first lease of somebody who owns shards ends, where that one has not renewed it for half a
 * lease: who lives has. Null where nobody's does.
 */
export function overdueMs(beat: Beat, leaseMs: number): number | null {
  const holders = new Set(beat.shards.flatMap(({ owner }) => owner ?? []))
  const left = beat.others
    .filter(({ owner }) => holders.has(owner))
    .map(({ leaseUntil }) => leaseUntil - beat.now)
    .filter((leftMs) => leftMs > 0 && leftMs < leaseMs / 2)
  return left.length === 0 ? null : Math.min(...left)
}
