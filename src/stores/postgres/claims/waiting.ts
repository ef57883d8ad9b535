import type { Lease, MissingHandler, WaitingFilter } from '../../index.ts'
import { properties, type Session } from '../connection/index.ts'

/** The statements about timers that wait for a handler, or are paused by an operator. */
export const WAITING_QUERIES = {
  /** `waiting` is checked again in the row itself: a pause that this waited for may have parked it. */
  releaseUnhandled: `UPDATE wakeful.timers SET wake_at = scheduled_for
  WHERE waiting = 'handler' AND id IN (
    SELECT t.id FROM unnest($1::int[], $2::bigint[]) AS l (shard, epoch)
    JOIN wakeful.shards s ON s.shard = l.shard AND s.epoch = l.epoch
    JOIN wakeful.timers t ON t.shard = l.shard AND t.target = $3 AND t.waiting = 'handler'
      AND t.wake_at > $4::bigint
    LIMIT $5::bigint)`,
  releaseTenant: releaseBy('tenant'),
  releaseTarget: releaseBy('target'),
  /** Steps from target to target, over all paused timers of each. */
  targets: `WITH RECURSIVE paused (shard, target) AS (
    SELECT shard, (SELECT t.target FROM wakeful.timers t
      WHERE t.shard = l.shard AND t.waiting = 'operator_pause' ORDER BY t.target LIMIT 1)
    FROM unnest($1::int[]) AS l (shard)
    UNION ALL SELECT shard, (SELECT t.target FROM wakeful.timers t
      WHERE t.shard = h.shard AND t.target > h.target AND t.waiting = 'operator_pause' ORDER BY t.target LIMIT 1)
    FROM paused h WHERE target IS NOT NULL)
  SELECT target FROM paused WHERE target IS NOT NULL LIMIT $2::bigint`,
  /**
   * Steps from name to name, over all waiting timers of each; at most 1,000, because callers choose the names. The longer a
   * timer waits, the later it is looked at again: the last few contain the oldest. Requeued ones have a handler by now.
   */
  missing: `WITH RECURSIVE names (pool, shard, target) AS (
    SELECT pool, shard, (SELECT t.target FROM wakeful.timers t
      WHERE t.shard = s.shard AND t.waiting = 'handler' ORDER BY t.target LIMIT 1)
    FROM wakeful.shards s WHERE pool <> 'wakeful'
    UNION ALL SELECT pool, shard, (SELECT t.target FROM wakeful.timers t
      WHERE t.shard = n.shard AND t.target > n.target AND t.waiting = 'handler' ORDER BY t.target LIMIT 1)
    FROM names n WHERE target IS NOT NULL)
  SELECT n.pool, n.target, min(o.scheduled_for) AS since
  FROM (SELECT pool, shard, target FROM names WHERE target IS NOT NULL LIMIT 1000) n
  CROSS JOIN LATERAL (SELECT t.scheduled_for FROM wakeful.timers t WHERE t.shard = n.shard AND t.target = n.target
    AND t.waiting = 'handler' AND t.wake_at > t.scheduled_for ORDER BY t.wake_at DESC LIMIT 10) o
  GROUP BY n.pool, n.target HAVING min(o.scheduled_for) <= $1::bigint ORDER BY since LIMIT $2::bigint`,
} as const

/** The longest paused first. `waiting` is cleared, so that the misfire policy applies to them. */
function releaseBy(by: 'tenant' | 'target'): string {
  return `UPDATE wakeful.timers SET wake_at = scheduled_for, waiting = NULL
  WHERE waiting = 'operator_pause' AND id = ANY(ARRAY(
    SELECT t.id FROM unnest($1::int[], $2::bigint[]) AS l (shard, epoch)
    JOIN wakeful.shards s ON s.shard = l.shard AND s.epoch = l.epoch
    CROSS JOIN LATERAL (SELECT id, scheduled_for FROM wakeful.timers WHERE shard = l.shard AND ${by} = $3
      AND waiting = 'operator_pause' AND wake_at > $4::bigint ORDER BY scheduled_for LIMIT $5::bigint) t
    ORDER BY t.scheduled_for LIMIT $5::bigint))`
}

/** Requeues waiting timers in the shards of these leases; returns how many. */
export function releaseWaiting(
  session: Session,
  leases: readonly Lease[],
  which: WaitingFilter,
  now: number,
  limit: number,
): Promise<number> {
  const [query, name] = releaseQuery(which)
  return session.run(query, ...properties(leases, 'shard', 'epoch'), name, now, limit)
}

function releaseQuery(which: WaitingFilter): readonly [query: string, name: string] {
  if ('handler' in which) return [WAITING_QUERIES.releaseUnhandled, which.handler]
  if ('pausedTenant' in which) return [WAITING_QUERIES.releaseTenant, which.pausedTenant]
  return [WAITING_QUERIES.releaseTarget, which.pausedTarget]
}

/** The targets with paused timers in these shards. */
export async function pausedTargets(
  session: Session,
  leases: readonly Lease[],
  limit: number,
): Promise<string[]> {
  const shards = leases.map(({ shard }) => shard)
  const rows = await session.rows(WAITING_QUERIES.targets, shards, limit)
  return [...new Set(rows.map(([target]) => target as string))]
}

/** The handlers that are missing although something has been due since this instant. */
export async function missingHandlers(
  session: Session,
  dueBy: number,
  limit: number,
): Promise<MissingHandler[]> {
  const rows = await session.rows(WAITING_QUERIES.missing, dueBy, limit)
  return rows.map((row) => {
    const [pool, handler, since] = row as [string, string, number]
    return { pool, handler, since }
  })
}
