import type { ShardState } from '../store.ts'
import type { ShardRow } from './ownership.ts'
import * as sql from './queries.ts'
import type { Session } from './session.ts'
import { SideLock, sidePath } from './side-lock.ts'

/**
 * Reads who runs the clock of each pool, and what waits there. An owner whose beat has stopped for a whole lease is
 * none: a killed process leaves its name behind.
 */
export function readShards(session: Session, path: string, now: number, leaseMs: number): ShardState[] {
  return session.all<ShardRow>(sql.allShards).map(({ shard, pool, owner, epoch }) => {
    const beat = path === ':memory:' ? now : new SideLock(sidePath(path, pool)).lastBeat()
    const lives = owner !== null && beat !== null && now - beat < leaseMs
    const { pending } = session.get<{ pending: number }>(sql.pendingOfShard, shard)!
    const nextWakeAt = (session.value(sql.nextTimers, shard, 1)?.[2] ?? null) as number | null
    return { shard, pool, owner: lives ? owner : null, epoch, pending, nextWakeAt }
  })
}
