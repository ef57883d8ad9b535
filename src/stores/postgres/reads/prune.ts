import { bySerial, type Serial, serialOf } from '../../../alarm/index.ts'
import type { Database, Session } from '../connection/index.ts'
import { meta, putMeta } from '../sql/index.ts'
import { INBOX_QUERIES } from './inbox.ts'

/** The position up to which pruning has read the log: earlier events belong to live alarms, or are deleted. */
const PLACE = 'pruned_to'
const EVENTS_LOOKED_AT_MAX = 5_000

export const PRUNE_QUERIES = {
  /** Only one process prunes at a time; others find nothing to do. */
  lock: `SELECT pg_try_advisory_xact_lock(7420002, hashtext('wakeful.events'))::int`,
  oldEvents: `SELECT e.seq, e.alarm, e.at, o.status FROM wakeful.events e LEFT JOIN wakeful.outcomes o ON o.alarm = e.alarm
    WHERE e.seq > $1::bigint ORDER BY e.seq LIMIT $2::bigint`,
  newestEvents: `SELECT n.alarm, e.at FROM unnest($1::bigint[]) AS n (alarm)
    CROSS JOIN LATERAL (SELECT at FROM wakeful.events WHERE alarm = n.alarm ORDER BY seq DESC LIMIT 1) e`,
  lockAlarms:
    'SELECT seq FROM wakeful.alarms WHERE seq = ANY($1::bigint[]) ORDER BY seq FOR UPDATE SKIP LOCKED',
  /** In a statement that begins after the lock: an alarm that was set again in the meantime is live. */
  ended: 'SELECT alarm FROM wakeful.outcomes WHERE alarm = ANY($1::bigint[]) AND status IS NOT NULL',
  /** The newest deleted event of each owner, by the name of `prunedEventsMeta`. */
  noteGone: `INSERT INTO wakeful.meta AS m (name, value)
    SELECT 'gone ' || length(tenant) || ' ' || tenant || owner, max(seq)::text FROM wakeful.events
      WHERE alarm = ANY($1::bigint[]) GROUP BY tenant, owner
    ON CONFLICT (name) DO UPDATE SET value = greatest(excluded.value::bigint, m.value::bigint)::text`,
  removeEvents: 'DELETE FROM wakeful.events WHERE alarm = ANY($1::bigint[])',
  removeOutcomes: 'DELETE FROM wakeful.outcomes WHERE alarm = ANY($1::bigint[])',
  removeKeys: 'DELETE FROM wakeful.idempotency_keys WHERE alarm = ANY($1::bigint[])',
  removeAlarms: 'DELETE FROM wakeful.alarms WHERE seq = ANY($1::bigint[])',
  /** Adds the tallies that user transactions wrote to separate rows to the shared ones. */
  foldTallies: `WITH own AS (DELETE FROM wakeful.tallies WHERE (tenant, owner, slot) IN (
      SELECT tenant, owner, slot FROM wakeful.tallies WHERE slot < 0 LIMIT 1000 FOR UPDATE SKIP LOCKED) RETURNING *)
    INSERT INTO wakeful.tallies AS t SELECT tenant, owner, 0, sum(total), sum(pending), sum(fired), sum(completed),
      sum(failed), sum(cancelled), sum(timed_out), sum(duration_ms_sum), sum(duration_count) FROM own
      GROUP BY tenant, owner ORDER BY tenant, owner
    ON CONFLICT (tenant, owner, slot) DO UPDATE SET total = t.total + excluded.total, pending = t.pending + excluded.pending,
      fired = t.fired + excluded.fired, completed = t.completed + excluded.completed, failed = t.failed + excluded.failed,
      cancelled = t.cancelled + excluded.cancelled, timed_out = t.timed_out + excluded.timed_out,
      duration_ms_sum = t.duration_ms_sum + excluded.duration_ms_sum, duration_count = t.duration_count + excluded.duration_count`,
} as const

/**
 * Deletes ended alarms with their events, oldest first, and wakes of that age. It walks the log, which is ordered by
 * time, from where it stopped: it meets an alarm again at its last event, and so needs no separate index.
 */
export async function prune(database: Database, endedBefore: number, limit: number): Promise<number> {
  await database.session.run(PRUNE_QUERIES.foldTallies)
  return database.transaction(async (session) => {
    const [isAlone] = (await session.row(PRUNE_QUERIES.lock))!
    if (isAlone !== 1) return 0
    const pruned = await pruneSome(session, endedBefore, limit)
    return pruned + (await session.run(INBOX_QUERIES.prune, endedBefore, limit - pruned))
  })
}

async function pruneSome(session: Session, endedBefore: number, limit: number): Promise<number> {
  const place = serialOf(((await session.row(meta, PLACE))?.[0] as string | undefined) ?? '0')
  const { reached, alarms } = await candidates(session, place, endedBefore, limit)
  const locked = (await session.rows(PRUNE_QUERIES.lockAlarms, alarms)).map(([seq]) => seq as Serial)
  const ended = (await session.rows(PRUNE_QUERIES.ended, locked)).map(([seq]) => seq as Serial)
  if (ended.length > 0) {
    session.send(PRUNE_QUERIES.noteGone, ended)
    session.send(PRUNE_QUERIES.removeEvents, ended)
    session.send(PRUNE_QUERIES.removeOutcomes, ended)
    session.send(PRUNE_QUERIES.removeKeys, ended)
    session.send(PRUNE_QUERIES.removeAlarms, ended)
  }
  // An alarm that is locked now must be met again.
  if (reached > place && locked.length === alarms.length) session.send(putMeta, PLACE, String(reached))
  return ended.length
}

/** The next ended alarms whose last event is old, and the position up to which the log was read. */
async function candidates(session: Session, place: Serial, endedBefore: number, limit: number) {
  const rows = (await session.rows(PRUNE_QUERIES.oldEvents, place, EVENTS_LOOKED_AT_MAX)) as OldEvent[]
  const old = rows.slice(0, rows.findIndex(([, , at]) => at >= endedBefore) >>> 0)
  const met = [...new Set(old.flatMap(([, alarm, , status]) => (status === null ? [] : (alarm ?? []))))]
  const newest = (await session.rows(PRUNE_QUERIES.newestEvents, met)) as [Serial, number][]
  const done = new Set(newest.filter(([, at]) => at < endedBefore).map(([alarm]) => alarm))
  const alarms = new Set<Serial>()
  let reached = place
  for (const [seq, alarm] of old) {
    const isNext = alarm !== null && done.has(alarm) && !alarms.has(alarm)
    if (isNext && alarms.size >= limit) break
    if (isNext) alarms.add(alarm)
    reached = seq
  }
  return { reached, alarms: [...alarms].sort(bySerial) }
}

type OldEvent = [Serial, Serial | null, number, string | null]
