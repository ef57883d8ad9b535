import { WakefulError } from '../../error.ts'
import { INSTANT_MAX } from '../../time/index.ts'
import { type Counts, DUE_COUNTED_MAX, type ShardState } from '../index.ts'
import type { Database } from './database.ts'
import * as sql from './queries.ts'

/** Where each pool's alarms live. The number of shards is fixed when the tables are made. */
export class ShardMap {
  readonly #database: Database
  readonly #perPool: number
  readonly #pools = new Map<string, readonly number[]>()

  constructor(database: Database, perPool: number) {
    this.#database = database
    this.#perPool = perPool
  }

  /** Reads the shards of pools that were not met before, and makes those that nobody has met. */
  async know(pools: Iterable<string>): Promise<void> {
    for (const pool of pools) {
      if (this.#pools.has(pool)) continue
      const { session } = this.#database
      let rows = await session.rows(sql.shardsOfPool, pool)
      if (rows.length === 0) {
        // On a connection of its own: a user's transaction may be rolled back, or stay open for long.
        await session.run(sql.insertShards, pool, this.#perPool)
        rows = await session.rows(sql.shardsOfPool, pool)
      }
      this.#pools.set(
        pool,
        rows.map(([, shard]) => shard as number),
      )
    }
  }

  /** The shard of an alarm within its pool, which must be known. */
  of(pool: string, alarmId: string): number {
    const shards = this.#pools.get(pool)
    if (shards === undefined) throw new WakefulError('internal', `the shards of pool ${pool} are not known`)
    return shards[hash(alarmId) % shards.length]!
  }
}

/** FNV-1a: spreads ids that begin alike, as those of one moment do. */
function hash(text: string): number {
  let sum = 0x811c9dc5
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193)
  return sum >>> 0
}

/** Reads who runs the clock of each shard, and what waits there. An owner whose lease has ended is none. */
export async function readShards(
  database: Database,
  moment: number | null,
  counts: Counts = true,
): Promise<ShardState[]> {
  const isDue = typeof counts === 'object'
  const bounds = isDue ? [counts.dueBy, DUE_COUNTED_MAX] : [INSTANT_MAX, null]
  const rows = await database.session.rows(sql.allShards, moment, counts === false ? 0 : 1, ...bounds)
  return rows.map((row) => {
    const [shard, pool, owner, epoch, pending, nextWakeAt] = row as ShardValues
    return { shard, pool, owner, epoch, pending, nextWakeAt }
  })
}

type ShardValues = [number, string, string | null, number, number, number | null]
