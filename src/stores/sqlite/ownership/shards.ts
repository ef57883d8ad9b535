import { type CountOption, DUE_COUNTED_MAX, type ShardState } from '../../index.ts'
import type { Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'
import type { ShardRow } from './ownership.ts'
import { isTaken, sidePath } from './side-lock.ts'

/**
 * Reads who runs the clock of each pool, and what waits there. An owner that took the side lock and holds it no longer
 * is none: a killed process leaves its name behind.
 */
export function readShards(
  session: Session,
  path: string,
  counts: CountOption = true,
  pools?: readonly string[],
): ShardState[] {
  const rows =
    pools === undefined
      ? session.all<ShardRow>(sql.allShards)
      : session.all<ShardRow>(sql.shardsOfPools, JSON.stringify(pools))
  return rows.map(({ shard, pool, holder, epoch, file_locked }) => {
    const lives =
      holder !== null && (path === ':memory:' || file_locked === 0 || isTaken(sidePath(path, pool)))
    const pending = countOf(session, shard, counts)
    const nextWakeAt = (session.value(sql.nextTimers, shard, 1)?.[2] ?? null) as number | null
    return { shard, pool, holder: lives ? holder : null, epoch, pending, nextWakeAt }
  })
}

function countOf(session: Session, shard: number, counts: CountOption): number {
  if (counts === false) return 0
  if (counts === true) return session.get<{ pending: number }>(sql.pendingOfShard, shard)!.pending
  return session.get<{ due: number }>(sql.dueOfShard, shard, counts.dueBy, DUE_COUNTED_MAX)!.due
}
