import type { Lease } from '../index.ts'
import type { Beat, Other } from './heartbeat.ts'

/** How a pool's shards stand, as one process sees it. */
export interface PoolState {
  /** All shards of the pool. */
  readonly shards: number
  readonly mine: number
  /** Those of nobody, or of the dead. */
  readonly free: number
  /** Processes that serve the pool and live, this one included. */
  readonly live: number
  /** How many of them come before this one, in an order they all know. */
  readonly rank: number
}

/** What a process does about it at its beat. */
export interface Move {
  readonly claim: number
  readonly giveUp: number
}

/**
 * Spreads shards evenly: shares differ by one at most, and the first in the order have the larger ones. So all together
 * cover the pool exactly: with every share rounded up, the last of nine processes would get none of 64 shards. What is
 * free is claimed up to the share; what is over it is given up for those who have less.
 */
export function spread({ shards, mine, free, live, rank }: PoolState): Move {
  const share = Math.floor(shards / live) + (rank < shards % live ? 1 : 0)
  return { claim: Math.min(free, Math.max(0, share - mine)), giveUp: Math.max(0, mine - share) }
}

/** How a pool's shards should move, as a process sees it by its beat; with its own, from which it may have to give up. */
export function moveIn(
  pool: string,
  owner: string,
  leases: Iterable<Lease>,
  beat: Beat,
  isDead: (other: Other) => boolean,
): Move & { readonly mine: readonly Lease[] } {
  const living = beat.others.filter((other) => !isDead(other))
  const names = new Set(living.map((other) => other.owner))
  const shards = beat.shards.filter((seen) => seen.pool === pool)
  const mine = [...leases].filter((lease) => lease.pool === pool)
  const own = new Set(mine.map(({ shard }) => shard))
  const free = shards.filter(
    (seen) => !own.has(seen.shard) && (seen.owner === null || !names.has(seen.owner)),
  )
  const serving = living.filter(({ pools }) => pools.includes(pool))
  const rank = serving.filter((other) => other.owner < owner).length
  const counts = { shards: shards.length, mine: mine.length, free: free.length }
  return { mine, ...spread({ ...counts, live: 1 + serving.length, rank }) }
}
