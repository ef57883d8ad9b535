import type { Lease, WaitingFilter } from '../../index.ts'
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
