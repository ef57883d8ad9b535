import type { Lease } from '../index.ts'
import type { HeartbeatResult, OtherProcess } from './heartbeat.ts'

/** How a pool's shards are distributed, as one process sees it. */
export interface PoolState {
  /** All shards of the pool. */
  readonly shards: number
  readonly mine: number
  /** Those that no live process holds. */
  readonly free: number
  /** Live processes that serve the pool, this one included. */
  readonly live: number
  /** How many of them come before this one, in an order they all know. */
  readonly rank: number
}

/** How many shards a process acquires or gives up. */
export interface Rebalance {
  readonly acquire: number
  readonly giveUp: number
}

/**
 * Distributes shards evenly: shares differ by one at most, and the first in the order have the larger ones. So all
 * together cover the pool exactly: with every share rounded up, the last of nine processes would get none of 64 shards.
 */
export function rebalance({ shards, mine, free, live, rank }: PoolState): Rebalance {
  const share = Math.floor(shards / live) + (rank < shards % live ? 1 : 0)
  return { acquire: Math.min(free, Math.max(0, share - mine)), giveUp: Math.max(0, mine - share) }
}

/** What a process does about one pool, by its heartbeat; with its own leases there, from which it may have to give up. */
export function rebalancePool(
  pool: string,
  process: string,
  leases: Iterable<Lease>,
  heartbeat: HeartbeatResult,
  isDead: (other: OtherProcess) => boolean,
): Rebalance & { readonly mine: readonly Lease[] } {
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
  return { mine, ...rebalance({ ...counts, live: 1 + serving.length, rank }) }
}

/** How long a busy shard is kept from being claimed from, so that it becomes idle, and how long it is left alone after that. */
const RETIRE_MS = 500
const AGAIN_MS = 5_000
/** Each time in vain makes the next one wait longer: handlers that hang would stop their shards' clocks for nothing. */
const VAIN_FACTOR = 4
const AGAIN_MS_MAX = 120_000

/**
 * Shards that a process holds over its share and that have deliveries in flight. Nothing more is claimed from them for a
 * while: with nothing in flight they can be given up, and a shard under constant load would never be idle by itself.
 */
export class Retirement {
  #shards: ReadonlySet<number> = new Set()
  #since = Number.NEGATIVE_INFINITY
  #againMs = AGAIN_MS

  get isOn(): boolean {
    return this.#shards.size > 0
  }

  has(shard: number): boolean {
    return this.#shards.has(shard)
  }

  /** Nothing is over the share any more. */
  end(): void {
    this.#shards = new Set()
    this.gaveUp()
  }

  /** Some were given up: the next time need not wait for longer. */
  gaveUp(): void {
    this.#againMs = AGAIN_MS
  }

  /** These are busy and over the share at this moment of the monotonic clock: they retire for a while, or are left alone. */
  update(busy: ReadonlySet<number>, at: number): void {
    const sinceMs = at - this.#since
    if (busy.size === 0) this.#shards = busy
    else if (!this.isOn && sinceMs >= this.#againMs) {
      this.#shards = busy
      this.#since = at
    } else if (this.isOn && sinceMs >= RETIRE_MS) {
      this.#shards = new Set()
      this.#againMs = Math.min(this.#againMs * VAIN_FACTOR, AGAIN_MS_MAX)
    }
  }
}
