/** How a pool's shards stand, as one process sees it. */
export interface PoolState {
  /** All shards of the pool. */
  readonly shards: number
  readonly mine: number
  /** Those of nobody, or of the dead. */
  readonly free: number
  /** Processes that serve the pool and live, this one included. */
  readonly live: number
}

/** What a process does about it at its beat. */
export interface Move {
  readonly claim: number
  readonly giveUp: number
}

/**
 * Spreads shards evenly: every process aims at its share, rounded up, so that all together cover the pool whatever its
 * number. What is free is claimed up to that; what is over it is given up for those who have less.
 */
export function spread({ shards, mine, free, live }: PoolState): Move {
  const share = Math.ceil(shards / Math.max(1, live))
  return { claim: Math.min(free, Math.max(0, share - mine)), giveUp: Math.max(0, mine - share) }
}
