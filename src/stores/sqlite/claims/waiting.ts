import { BUILT_IN_POOL } from '../../../alarm/index.ts'
import type { Lease, MissingHandler, WaitingFilter } from '../../index.ts'
import type { Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'

/** Makes up to `limit` waiting timers of these shards due again; returns how many. */
export function requeueWaiting(
  session: Session,
  leases: readonly Lease[],
  which: WaitingFilter,
  now: number,
  limit: number,
): number {
  const [query, name] = requeueQuery(which)
  let count = 0
  for (const { shard } of leases) count += session.run(query, shard, name, now, limit - count).changes
  return count
}

function requeueQuery(which: WaitingFilter): readonly [query: string, name: string] {
  if ('handler' in which) return [sql.requeueWithoutHandler, which.handler]
  if ('pausedTenant' in which) return [sql.requeuePausedTenant, which.pausedTenant]
  return [sql.requeuePausedTarget, which.pausedTarget]
}

/** The names of the targets that have timers an operator paused. */
export function pausedTargets(session: Session, leases: readonly Lease[], limit: number): string[] {
  const names = new Set<string>()
  for (const { shard } of leases) {
    let last: string | undefined = ''
    while (last !== undefined && names.size < limit) {
      last = session.get<{ target: string }>(sql.nextPausedTarget, shard, last)?.target
      if (last !== undefined) names.add(last)
    }
  }
  return [...names]
}

/** How many names of a pool are looked at: callers choose them, so there may be any number. */
const NAMES_MAX = 1_000

/** The handlers that are missing although something has been due since this instant. */
export function missingHandlers(session: Session, dueBy: number, limit: number): MissingHandler[] {
  const missing: MissingHandler[] = []
  for (const { shard, pool } of session.all<{ shard: number; pool: string }>(sql.allShards)) {
    if (pool === BUILT_IN_POOL) continue
    let handler: string | undefined = ''
    for (let names = 0; names < NAMES_MAX; names++) {
      handler = session.get<{ target: string }>(sql.nextMissingHandler, shard, handler)?.target
      if (handler === undefined) break
      const since = session.get<{ since: number | null }>(sql.missingHandlerSince, shard, handler)!.since
      if (since !== null && since <= dueBy) missing.push({ pool, handler, since })
    }
  }
  return missing.sort((a, b) => a.since - b.since).slice(0, limit)
}
