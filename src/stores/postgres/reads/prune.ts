import { bySerial, type Serial, serialOf } from '../../../alarm/index.ts'
import { EVENTS_KEPT, type Pruned, TRIMMED_MAX } from '../../index.ts'
import type { Database, Session } from '../connection/index.ts'
import { meta, putMeta } from '../sql/index.ts'
import { INBOX_QUERIES } from './inbox.ts'

/** The position up to which pruning has read the log: earlier events are kept, or belong to alarms that are met again. */
const PLACE = 'pruned_to'

export const PRUNE_QUERIES = {
  /** Only one process prunes at a time; others find nothing to do. */
  lock: `SELECT pg_try_advisory_xact_lock(7420002, hashtext('wakeful.events'))::int`,
  oldEvents: 'SELECT seq, alarm, at FROM wakeful.events WHERE seq > $1::bigint ORDER BY seq LIMIT $2::bigint',
  /**
   * Of each alarm: its newest event, the newest that is not kept, and its status. An ended alarm that a list declares stays, or
   * the list would set it anew: it has no status here.
   */
  metAlarms: `SELECT n.alarm, (SELECT seq FROM wakeful.events WHERE alarm = n.alarm ORDER BY seq DESC LIMIT 1),
      (SELECT seq FROM wakeful.events WHERE alarm = n.alarm ORDER BY seq DESC LIMIT 1 OFFSET ${EVENTS_KEPT}),
      (SELECT o.status FROM wakeful.outcomes o JOIN wakeful.alarms a ON a.seq = o.alarm
        WHERE o.alarm = n.alarm AND a.declared_by IS NULL)
    FROM unnest($1::bigint[]) AS n (alarm)`,
  lockAlarms:
    'SELECT seq FROM wakeful.alarms WHERE seq = ANY($1::bigint[]) ORDER BY seq FOR UPDATE SKIP LOCKED',
  /** In a statement that begins after the lock: an alarm that was set again in the meantime is live. */
  ended: `SELECT o.alarm FROM wakeful.outcomes o WHERE o.alarm = ANY($1::bigint[]) AND o.status IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM wakeful.events e WHERE e.alarm = o.alarm AND e.seq > $2::bigint)`,
  /**
   * Deletes the events of alarms up to a position, and counts them. LATERAL with a limit, because the planner would read all
   * events where it expects many of each alarm.
   */
  removeOldEvents: removed(`ANY(ARRAY(SELECT e.seq FROM unnest($1::bigint[], $2::bigint[]) AS n (alarm, up_to)
    CROSS JOIN LATERAL (SELECT seq FROM wakeful.events WHERE alarm = n.alarm AND seq <= n.up_to
      ORDER BY seq LIMIT ${TRIMMED_MAX}) e))`),
  removeEvents: removed('ANY(ARRAY(SELECT seq FROM wakeful.events WHERE alarm = ANY($1::bigint[])))'),
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

/** Deletes these events, and records the newest deleted one of each owner, by the name of `prunedEventsMeta`. */
function removed(events: string): string {
  return `WITH gone AS (DELETE FROM wakeful.events WHERE seq = ${events} RETURNING tenant, owner, seq),
    noted AS (INSERT INTO wakeful.meta AS m (name, value)
      SELECT 'gone ' || length(tenant) || ' ' || tenant || owner, max(seq)::text FROM gone GROUP BY tenant, owner
      ON CONFLICT (name) DO UPDATE SET value = greatest(excluded.value::bigint, m.value::bigint)::text)
    SELECT count(*) FROM gone`
}

/**
 * Continues through the log, which is ordered by time, from where it stopped. An ended alarm is deleted at its last event,
 * so that this needs no index of its own. Any other alarm loses what is not among its newest events: those of them that are
 * old are deleted when one of its later events is met.
 */
export async function prune(database: Database, before: number, limit: number): Promise<Pruned> {
  await database.session.run(PRUNE_QUERIES.foldTallies)
  return database.transaction(async (session) => {
    const [isAlone] = (await session.row(PRUNE_QUERIES.lock))!
    if (isAlone !== 1) return { alarms: 0, events: 0, wakes: 0, more: false }
    const pruned = await pruneLog(session, before, limit)
    const wakes = await session.run(INBOX_QUERIES.prune, before, limit)
    return { ...pruned, wakes, more: pruned.more || wakes === limit }
  })
}

async function pruneLog(session: Session, before: number, limit: number): Promise<Omit<Pruned, 'wakes'>> {
  const place = serialOf(((await session.row(meta, PLACE))?.[0] as string | undefined) ?? '0')
  const rows = (await session.rows(PRUNE_QUERIES.oldEvents, place, limit)) as OldEvent[]
  const firstRecent = rows.findIndex(([, , at]) => at >= before)
  const old = firstRecent === -1 ? rows : rows.slice(0, firstRecent)
  const end = old.at(-1)?.[0]
  if (end === undefined) return { alarms: 0, events: 0, more: false }
  const met = [...new Set(old.flatMap(([, alarm]) => alarm ?? []))]
  const found = (await session.rows(PRUNE_QUERIES.metAlarms, met)) as MetAlarm[]
  const [done, others] = [found.filter(isDone), found.filter((alarm) => !isDone(alarm))]
  function isDone([, newest, , status]: MetAlarm): boolean {
    return status !== null && newest !== null && newest <= end!
  }
  const events = await trim(session, others, end)
  const { alarms, skipped } = await removeAlarms(
    session,
    done.map(([alarm]) => alarm),
    end,
  )
  // An alarm that is locked now must be met again.
  const stop = old.findIndex(([, alarm]) => alarm !== null && skipped.has(alarm))
  const reached = stop === -1 ? end : (old[stop - 1]?.[0] ?? place)
  if (reached > place) session.send(putMeta, PLACE, String(reached))
  return { alarms, events, more: reached === end && old.length === limit }
}

/** Deletes the events of alarms up to a position, except the newest of each. Returns how many. */
async function trim(session: Session, met: readonly MetAlarm[], end: Serial): Promise<number> {
  const some = met.flatMap(([alarm, , notKept]) => (notKept === null ? [] : [{ alarm, notKept }]))
  if (some.length === 0) return 0
  const upTo = some.map(({ notKept }) => (notKept < end ? notKept : end))
  const alarms = some.map(({ alarm }) => alarm)
  return (await session.row(PRUNE_QUERIES.removeOldEvents, alarms, upTo))![0] as number
}

/** Deletes ended alarms with their events. Returns how many, and which of them others have locked. */
async function removeAlarms(session: Session, alarms: readonly Serial[], end: Serial) {
  if (alarms.length === 0) return { alarms: 0, skipped: new Set<Serial>() }
  const sorted = [...alarms].sort(bySerial)
  const locked = (await session.rows(PRUNE_QUERIES.lockAlarms, sorted)).map(([seq]) => seq as Serial)
  const ended = (await session.rows(PRUNE_QUERIES.ended, locked, end)).map(([seq]) => seq as Serial)
  if (ended.length > 0) {
    session.send(PRUNE_QUERIES.removeEvents, ended)
    session.send(PRUNE_QUERIES.removeOutcomes, ended)
    session.send(PRUNE_QUERIES.removeKeys, ended)
    session.send(PRUNE_QUERIES.removeAlarms, ended)
  }
  return { alarms: ended.length, skipped: new Set(sorted).difference(new Set(locked)) }
}

/** Position, alarm, instant. */
type OldEvent = [Serial, Serial | null, number]
/** Alarm, its newest event, the newest that is not kept, and its status. */
type MetAlarm = [Serial, Serial | null, Serial | null, string | null]
