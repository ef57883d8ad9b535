import type { ShardState } from '../stores/index.ts'
import type { LibraryContext } from './context.ts'

/** What runs in this process and what waits in the store: for the gauges of the metrics, and for the health checks. */
export interface Readings {
  /** Whether the store accepts writes, and not only reads. */
  readonly takesWrites: boolean
  /** Whether the engine was started here, even if this process is on standby. */
  readonly isRunning: boolean
  /** Whether this process has the secret that signs the store's webhooks. Without it, it serves its own handlers only. */
  readonly hasSecret: boolean
  /** Deliveries that run. */
  readonly inFlight: number
  /** Claimed, and waiting for a slot. */
  readonly queued: number
  /** Ended, and not settled yet. */
  readonly unsettled: number
  /** Due and not claimed, in the shards that run here or nowhere; at most 10,000 of each shard are counted. */
  readonly backlog: number
  /** Unacknowledged wakes in inboxes; at most 10,000 are counted. */
  readonly inboxWaiting: number
  /** By pool. */
  readonly pools: readonly PoolReadings[]
  /** The store's time when it was read. */
  readonly now: number
}

/** The clock of one pool. */
export interface PoolReadings {
  readonly pool: string
  /**
   * Shards that run here, in other processes, and nowhere. A lease that has run out counts as nowhere until it is
   * renewed.
   */
  readonly here: number
  readonly elsewhere: number
  readonly nobody: number
  /**
   * How long the oldest wake is due that is not in flight here, and not deferred by a limit; 0 where there is none. Shards of
   * other processes are left out.
   */
  readonly lagMs: number
  /** How long the oldest occurrence is due whose handler no process of the pool has registered; 0 where there is none. */
  readonly withoutHandlerMs: number
}

const WAKES_COUNTED_MAX = 10_000
const MISSING_HANDLERS_MAX = 100

type ReadingsPorts = Pick<LibraryContext, 'engine' | 'store' | 'clock' | 'checkSecret'>

/** Reads the shards' rows, and the head of each one's queue. */
export async function readingsOf({ engine, store, clock, checkSecret }: ReadingsPorts): Promise<Readings> {
  const shards = await store.shardStates({ dueBy: clock.now() })
  const { leases, inFlight, pool: deliveries, limitedTo } = engine.state()
  const missing = await store.missingHandlers(clock.now(), MISSING_HANDLERS_MAX)
  const pools: PoolReadings[] = []
  let due = 0
  for (const [pool, all] of Map.groupBy(shards, (shard) => shard.pool)) {
    const mine = leases.filter((lease) => lease.pool === pool)
    const here = mine.filter(({ until }) => clock.monotonic() < until).length
    const isMine = ({ shard }: ShardState) => mine.some((lease) => lease.shard === shard)
    for (const shard of all) if (shard.holder === null || isMine(shard)) due += shard.pending
    const orphans = all.filter((shard) => shard.holder === null && !isMine(shard))
    const next =
      mine.length === 0 ? null : limitedTo ? limitedTo.nextWakeAt : await store.nextWakeAt(mine, inFlight)
    const wakes = [next, ...orphans.map(({ nextWakeAt }) => nextWakeAt)].filter((at) => at !== null)
    const now = clock.now()
    pools.push({
      pool,
      here,
      elsewhere: all.length - mine.length - orphans.length,
      nobody: orphans.length + mine.length - here,
      lagMs: Math.max(0, ...wakes.map((at) => now - at)),
      withoutHandlerMs: Math.max(
        0,
        ...missing.filter((each) => each.pool === pool).map(({ since }) => now - since),
      ),
    })
  }
  return {
    takesWrites: await store.isWritable(),
    isRunning: engine.isRunning,
    hasSecret: ((await checkSecret?.()) ?? null) === null,
    inFlight: deliveries.active,
    queued: deliveries.queued,
    unsettled: deliveries.ended,
    backlog: Math.max(0, due - deliveries.active - deliveries.queued - deliveries.ended),
    inboxWaiting: await store.countInboxWakes(WAKES_COUNTED_MAX),
    pools,
    now: clock.now(),
  }
}
