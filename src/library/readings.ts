import type { Engine } from '../engine/index.ts'
import type { ShardState, Store } from '../stores/index.ts'
import type { Clock } from '../time/index.ts'

/** What is under way in this process, and what waits in the store: the gauges of the metrics, and what health is judged by. */
export interface Readings {
  /** Whether the store takes writes, and not only answers. */
  readonly takesWrites: boolean
  /** Whether the clock runs here, or would if another did not. */
  readonly isRunning: boolean
  /** Deliveries under way. */
  readonly inFlight: number
  /** Taken, and waiting for a free hand. */
  readonly queued: number
  /** Ended, and not written yet. */
  readonly unsettled: number
  /** Due, and neither under way nor taken, of the shards that run here or nowhere; at most 10,000 of each are counted. */
  readonly backlog: number
  /** Wakes that lie in inboxes, unacknowledged; at most 10,000 are counted. */
  readonly inboxWaiting: number
  /** By pool: those this process runs, and those nobody does. */
  readonly pools: readonly PoolReadings[]
  /** The time by the store's authority, when it was read. */
  readonly now: number
}

/** The clock of one pool. */
export interface PoolReadings {
  readonly pool: string
  /** Shards whose clock runs here, in other processes, and nowhere. One whose lease has run out is run by nobody, until it is renewed. */
  readonly here: number
  readonly elsewhere: number
  readonly nobody: number
  /** How long the oldest wake is due that is not under way here; 0 where none is. Of what runs elsewhere nothing is told. */
  readonly lagMs: number
}

const WAKES_COUNTED_MAX = 10_000

/** Reads it all: a look at the shards' rows, and one at the head of each one's queue. */
export async function readingsOf(engine: Engine, store: Store, clock: Clock): Promise<Readings> {
  const shards = await store.shardStates({ dueBy: clock.now() })
  const { leases, inFlight, pool: deliveries } = engine.state()
  const pools: PoolReadings[] = []
  let due = 0
  for (const [pool, all] of Map.groupBy(shards, (shard) => shard.pool)) {
    const mine = leases.filter((lease) => lease.pool === pool)
    const here = mine.filter(({ until }) => clock.monotonic() < until).length
    const isMine = ({ shard }: ShardState) => mine.some((lease) => lease.shard === shard)
    for (const shard of all) if (shard.holder === null || isMine(shard)) due += shard.pending
    const orphans = all.filter((shard) => shard.holder === null && !isMine(shard))
    const next = mine.length === 0 ? null : await store.nextWakeAt(mine, inFlight)
    const wakes = [next, ...orphans.map(({ nextWakeAt }) => nextWakeAt)].filter((at) => at !== null)
    const now = clock.now()
    pools.push({
      pool,
      here,
      elsewhere: all.length - mine.length - orphans.length,
      nobody: orphans.length + mine.length - here,
      lagMs: Math.max(0, ...wakes.map((at) => now - at)),
    })
  }
  return {
    takesWrites: await store.isWritable(),
    isRunning: engine.isRunning,
    inFlight: deliveries.active,
    queued: deliveries.queued,
    unsettled: deliveries.ended,
    backlog: Math.max(0, due - deliveries.active - deliveries.queued - deliveries.ended),
    inboxWaiting: await store.countInboxWakes(WAKES_COUNTED_MAX),
    pools,
    now: clock.now(),
  }
}
