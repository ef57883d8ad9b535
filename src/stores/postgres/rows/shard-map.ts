import { assertPoolsFit } from '../../../alarm/index.ts'
import { WakefulError } from '../../../error.ts'
import { INSTANT_MAX } from '../../../time/index.ts'
import { type CountOption, DUE_COUNTED_MAX, type ShardState } from '../../index.ts'
import type { Database } from '../connection/index.ts'
import * as sql from '../sql/index.ts'

/** The shards of each pool. Their number is fixed when the tables are created. */
export class ShardMap {
  readonly #database: Database
  readonly #perPool: number
  readonly #pools = new Map<string, readonly number[]>()

  constructor(database: Database, perPool: number) {
    this.#database = database
    this.#perPool = perPool
  }

  /**
   * Reads the shards of pools that alarms name, and creates missing ones: all of them, or none if there would be too
   * many.
   */
  async ensure(pools: Iterable<string>): Promise<void> {
    const missing = await this.#read(pools)
    if (missing.length === 0) return
    // In a separate transaction: a user's transaction may be rolled back, or stay open for long.
    await this.#database.transaction(async (session) => {
      await session.rows(sql.lockPools)
      const fresh = await this.#read(missing, session)
      const [count] = await session.rows(sql.poolCount)
      assertPoolsFit(fresh, count![0] as number)
      await session.run(sql.insertShards, fresh, this.#perPool)
    })
    await this.#read(missing)
  }

  /** Creates the missing shards of pools that this process serves, however many pools there are. */
  async ensureServed(pools: readonly string[]): Promise<void> {
    const fresh = await this.#read(pools)
    if (fresh.length === 0) return
    await this.#database.session.run(sql.insertShards, fresh, this.#perPool)
    await this.#read(fresh)
  }

  /** Reads the shards of unknown pools; returns the pools that do not exist. */
  async #read(pools: Iterable<string>, session = this.#database.session): Promise<string[]> {
    const wanted = [...new Set(pools)].filter((pool) => !this.#pools.has(pool))
    if (wanted.length === 0) return []
    const rows = await session.rows(sql.shardsOfPools, wanted)
    for (const [pool, all] of Map.groupBy(rows, ([name]) => name as string))
      this.#pools.set(
        pool,
        all.map(([, shard]) => shard as number),
      )
    return wanted.filter((pool) => !this.#pools.has(pool))
  }

  /** The shard of an alarm within its pool, which must be known. */
  of(pool: string, alarmId: string): number {
    const shards = this.#pools.get(pool)
    if (shards === undefined) throw new WakefulError('store.shards_unknown', { pool })
    return shards[hash(alarmId) % shards.length]!
  }
}

/** FNV-1a: spreads ids with equal prefixes, like those of one moment. */
function hash(text: string): number {
  let sum = 0x811c9dc5
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193)
  return sum >>> 0
}

/** Reads the holder and the pending timers of each shard. A holder whose lease has ended is reported as null. */
export async function readShards(
  database: Database,
  clockOverride: number | null,
  counts: CountOption = true,
  pools?: readonly string[],
): Promise<ShardState[]> {
  const isDue = typeof counts === 'object'
  const bounds = isDue ? [counts.dueBy, DUE_COUNTED_MAX] : [INSTANT_MAX, null]
  const asked = [clockOverride, counts === false ? 0 : 1, ...bounds, pools ?? null]
  const rows = await database.session.rows(sql.allShards, ...asked)
  return rows.map((row) => {
    const [shard, pool, owner, epoch, pending, nextWakeAt] = row as ShardValues
    return { shard, pool, holder: owner, epoch, pending, nextWakeAt }
  })
}

type ShardValues = [number, string, string | null, number, number, number | null]
