import { type Check, check, formatCount, formatRounded } from '../../index.ts'
import type { Session } from '../connection/index.ts'

/** Queries about the server. A role sees what it may of others' sessions; a superuser sees all. */
const HEALTH = {
  vacuum: `SELECT s.n_dead_tup, s.n_live_tup, current_setting('autovacuum'), current_setting('track_counts'),
    floor(extract(epoch FROM clock_timestamp() - greatest(s.last_autovacuum, s.last_vacuum)) * 1000)::bigint
    FROM pg_stat_all_tables s WHERE s.schemaname = $1 AND s.relname = 'timers'`,
  snapshots: `SELECT coalesce(nullif(application_name, ''), usename, 'somebody') || ', pid ' || pid,
    floor(extract(epoch FROM clock_timestamp() - xact_start) * 1000)::bigint FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND xact_start IS NOT NULL AND pid <> pg_backend_pid()
    AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL) AND datname = current_database()
    UNION ALL SELECT 'the prepared transaction ' || gid, floor(extract(epoch FROM clock_timestamp() - prepared) * 1000)::bigint
    FROM pg_prepared_xacts WHERE database = current_database() ORDER BY 2 DESC LIMIT 1`,
  slots: `SELECT slot_name, greatest(age(xmin), age(catalog_xmin))::bigint FROM pg_replication_slots
    WHERE NOT active AND (xmin IS NOT NULL OR catalog_xmin IS NOT NULL) ORDER BY 2 DESC LIMIT 1`,
  logWriters: `SELECT coalesce(nullif(a.application_name, ''), a.usename, 'somebody') || ', pid ' || a.pid,
    floor(extract(epoch FROM clock_timestamp() - a.xact_start) * 1000)::bigint
    FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'relation' AND l.relation = 'wakeful.events'::regclass AND l.mode = 'RowExclusiveLock'
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND a.pid <> pg_backend_pid() AND a.xact_start IS NOT NULL ORDER BY 2 DESC LIMIT 1`,
} as const

/** The thresholds of the checks. */
export interface HealthLimits {
  /** Dead rows of `timers`. */
  readonly deadRowsMax: number
  /** How long a snapshot may stay open, and how long one transaction may write to the log. */
  readonly snapshotMsMax: number
  readonly logWriterMsMax: number
}

/** Ten times as many dead rows as autovacuum waits for: it does not run, or cannot remove them. */
export const HEALTH_LIMITS: HealthLimits = {
  deadRowsMax: 50_000,
  snapshotMsMax: 15 * 60_000,
  logWriterMsMax: 30_000,
}

type Look = (name: string, work: () => Promise<Check[]>) => Promise<Check[]>

/** Vacuum, open snapshots, and what keeps the log from being read. */
export async function healthChecks(session: Session, look: Look, limits: HealthLimits): Promise<Check[]> {
  const checks = [
    await look('vacuum', async () => [await vacuum(session, limits)]),
    await look('snapshots', async () => [await snapshots(session, limits)]),
    await look('log', async () => [await log(session, limits)]),
  ]
  return checks.flat()
}

async function vacuum(session: Session, { deadRowsMax }: HealthLimits): Promise<Check> {
  const row = await session.row(HEALTH.vacuum, session.dialect.plainSchema)
  if (row === undefined) return check('vacuum', false, 'timers is missing', 'see schema')
  const [dead, live, autovacuum, counts, ago] = row as [number, number, string, string, number | null]
  const isOn = autovacuum === 'on' && counts === 'on'
  const rows = `timers: ${formatCount(dead)} dead rows beside ${formatCount(live)} live ones`
  const last = ago === null ? 'not vacuumed yet' : `last vacuumed ${formatRounded(ago)} ago`
  return check(
    'vacuum',
    isOn && dead <= Math.max(deadRowsMax, live),
    `${isOn ? '' : `autovacuum ${autovacuum}, track_counts ${counts}; `}${rows}, ${last}`,
    isOn
      ? 'something keeps autovacuum from removing them: see snapshots; then VACUUM the schema’s timers'
      : 'switch autovacuum and track_counts on: every fire leaves a dead row',
  )
}

/** An open snapshot keeps every row that was deleted since, in all tables. */
async function snapshots(session: Session, { snapshotMsMax }: HealthLimits): Promise<Check> {
  const oldest = (await session.row(HEALTH.snapshots)) as [string, number] | undefined
  const slot = (await session.row(HEALTH.slots)) as [string, number] | undefined
  const isOld = oldest !== undefined && oldest[1] > snapshotMsMax
  const found =
    oldest === undefined ? 'none is open' : `the oldest is ${formatRounded(oldest[1])} old (${oldest[0]})`
  const behind = slot === undefined ? '' : `; replication slot ${slot[0]} is not in use and holds rows back`
  return check(
    'snapshots',
    !isOld && slot === undefined,
    `${found}${behind}`,
    'end that transaction, or drop the slot: until then no dead row can be removed',
  )
}

/** The log is read up to the oldest transaction that may still write to it. */
async function log(session: Session, { logWriterMsMax }: HealthLimits): Promise<Check> {
  const oldest = (await session.row(HEALTH.logWriters)) as [string, number] | undefined
  if (oldest === undefined || oldest[1] <= logWriterMsMax)
    return check('log', true, 'no transaction delays it')
  return check(
    'log',
    false,
    `a transaction has been writing to it for ${formatRounded(oldest[1])} (${oldest[0]})`,
    'end that transaction: events after its own are not read before',
  )
}
