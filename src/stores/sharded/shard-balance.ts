import type { Lease } from '../index.ts'
import type { HeartbeatResult, OtherProcess } from './heartbeat.ts'

/** How a pool's shards are distributed, as one process sees it. */
export interface PoolState {
  /** All shards of the pool. */
  readonly shards: number
  readonly mine: number
  /** Those without a live holder. */
  readonly free: number
  /** Live processes that serve the pool, including this one. */
  readonly live: number
  /** This process's rank among them, in an order that they all know. */
  readonly rank: number
}

/** The number of shards to acquire or release. */
export interface Rebalance {
  readonly acquire: number
  readonly release: number
}

/**
 * Distributes shards evenly: shares differ by one at most, and the first in rank have the larger ones. So they cover
 * the pool exactly: with every share rounded up, the last of nine processes would get none of 64 shards.
 */
export function rebalance({ shards, mine, free, live, rank }: PoolState): Rebalance {
  const share = Math.floor(shards / live) + (rank < shards % live ? 1 : 0)
  return { acquire: Math.min(free, Math.max(0, share - mine)), release: Math.max(0, mine - share) }
}

/** The rebalance of one pool, with this process's leases there. */
export interface PoolRebalance extends Rebalance {
  readonly pool: string
  readonly mine: readonly Lease[]
}

/** The rebalance of one pool by a heartbeat. */
export function rebalancePool(
  pool: string,
  process: string,
  leases: Iterable<Lease>,
  heartbeat: HeartbeatResult,
  isDead: (other: OtherProcess) => boolean,
): PoolRebalance {
  const living = heartbeat.others.filter((other) => !isDead(other))
  const names = new Set(living.map((other) => other.process))
  const shards = heartbeat.shards.filter((seen) => seen.pool === pool)
  const mine = [...leases].filter((lease) => lease.pool === pool)
  const own = new Set(mine.map(({ shard }) => shard))
  const free = shards.filter(
    (seen) => !own.has(seen.shard) && (seen.holder === null || !names.has(seen.holder)),
  )
  const serving = living.filter(({ pools }) => pools.includes(pool))
  const rank = serving.filter((other) => other.process < process).length
  const counts = { shards: shards.length, mine: mine.length, free: free.length }
  return { pool, mine, ...rebalance({ ...counts, live: 1 + serving.length, rank }) }
}

/** How long a busy shard drains, and how long it is left alone after that if it did not become idle. */
const DRAIN_MS = 500
const BACKOFF_MS = 5_000
/** Each failure makes the next one wait longer: handlers that hang would stop their shards for nothing. */
const BACKOFF_FACTOR = 4
const BACKOFF_MS_MAX = 120_000

/**
 * Shards over a process's share that have deliveries in flight. Nothing more is claimed from them for a while: with
 * nothing in flight they can be released, and a shard under constant load would never become idle by itself.
 */
export class DrainingShards {
  #shards: ReadonlySet<number> = new Set()
  #since = Number.NEGATIVE_INFINITY
  #backoffMs = BACKOFF_MS

  get isActive(): boolean {
    return this.#shards.size > 0
  }

  has(shard: number): boolean {
    return this.#shards.has(shard)
  }

  /** No shard is over the share any more. */
  stop(): void {
    this.#shards = new Set()
    this.resetBackoff()
  }

  /** Some were released: the next draining need not wait longer. */
  resetBackoff(): void {
    this.#backoffMs = BACKOFF_MS
  }

  /** These shards are busy and over the share now (monotonic clock): they drain for a while, or are left alone. */
  update(busy: ReadonlySet<number>, at: number): void {
    const sinceMs = at - this.#since
    if (busy.size === 0) this.#shards = busy
    else if (!this.isActive && sinceMs >= this.#backoffMs) {
      this.#shards = busy
      this.#since = at
    } else if (this.isActive && sinceMs >= DRAIN_MS) {
      this.#shards = new Set()
      this.#backoffMs = Math.min(this.#backoffMs * BACKOFF_FACTOR, BACKOFF_MS_MAX)
    }
  }
}
