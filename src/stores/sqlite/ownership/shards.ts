import { type CountOption, DUE_COUNTED_MAX, type ShardState } from '../../index.ts'
import type { Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'
import type { ShardRow } from './ownership.ts'
import { isLocked, sideFilePath } from './side-lock.ts'

/**
 * Reads the lease holder of each pool and what is pending there. A holder that locked the side file and has lost that lock
 * is dead: a killed process leaves its name behind.
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
    const isAlive =
      holder !== null && (path === ':memory:' || file_locked === 0 || isLocked(sideFilePath(path, pool)))
    const pending = countOf(session, shard, counts)
    const nextWakeAt = (session.value(sql.nextTimers, shard, 1)?.[2] ?? null) as number | null
    return { shard, pool, holder: isAlive ? holder : null, epoch, pending, nextWakeAt }
  })
}

function countOf(session: Session, shard: number, counts: CountOption): number {
  if (counts === false) return 0
  if (counts === true) return session.get<{ pending: number }>(sql.pendingOfShard, shard)!.pending
  return session.get<{ due: number }>(sql.dueOfShard, shard, counts.dueBy, DUE_COUNTED_MAX)!.due
}
