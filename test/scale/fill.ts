import { DatabaseSync } from 'node:sqlite'
import { open } from '../../src/index.ts'

/** The targets are 'work0' to 'work4', and this one. */
export const RARE_TARGET = 'rare'

const DAY_MS = 86_400_000

/** Which alarms have ended, by their `seq`, which begins at 2; and whose each is, by its number `n`: SQL. */
interface Content {
  readonly ended: string
  readonly tenant?: string
  readonly owner?: string
  readonly label?: string
}

/** Creates a store with this many pending alarms, all far off and in random due order. */
export async function fillPending(path: string, rows: number): Promise<void> {
  await fill(path, rows, { ended: 'FALSE' })
}

/** Creates a store with this many ended alarms of the last 30 days, in every final state. */
export async function fillEnded(path: string, rows: number): Promise<void> {
  await fill(path, rows, { ended: 'TRUE' })
}

/** Creates a store with this many alarms of the last 30 days; the pending ones are far off and in random due order. */
export async function fill(path: string, rows: number, { ended, ...scope }: Content): Promise<void> {
  await makeTemplate(path)
  bulk(path, (db) => {
    copyAlarms(db, rows, scope)
    // A prime step visits every index once, unlike the order of creation.
    db.exec(`
      INSERT INTO wakeful_timers (${columnsOf(db, 'wakeful_timers', ['id'])})
      SELECT ${columnsOf(db, 'wakeful_timers', ['id'], {
        alarm: 'a.seq',
        tenant: 'a.tenant',
        owner: 'a.owner',
        wake_at: 'a.fire_at',
        scheduled_for: 'a.fire_at',
        target: 'a.target',
      })} FROM (SELECT * FROM wakeful_timers LIMIT 1) t, (SELECT * FROM wakeful_alarms WHERE seq > 1) a
      WHERE NOT (${ended});
      INSERT INTO wakeful_outcomes (alarm, tenant, owner, target, status, started_at, last_fired_at, completed_at,
        duration_ms, result, last_error, failure_count, attempts)
      SELECT seq, tenant, owner, target,
        CASE WHEN seq % 100 < 75 THEN 'fired' WHEN seq % 100 < 90 THEN 'completed' WHEN seq % 100 < 95 THEN 'cancelled'
          WHEN seq % 1000 < 998 THEN 'failed' ELSE 'timed_out' END,
        created_at + 1000, created_at + 1000, created_at + 1250, 250, NULL, NULL, 0, 1
      FROM wakeful_alarms WHERE seq > 1 AND ${ended};
      INSERT INTO wakeful_events (id, tenant, owner, type, origin, alarm, occurrence, subject, correlation_id, failure, at, data)
      SELECT a.id, a.tenant, a.owner, 'alarm.' || o.status, 'caused', a.seq, '1-' || a.fire_at, NULL, a.correlation_id,
        CASE WHEN o.status IN ('failed', 'timed_out') THEN o.status END, a.created_at + 1250, '{"attempt":1}'
      FROM wakeful_alarms a JOIN wakeful_outcomes o ON o.alarm = a.seq;
      DELETE FROM wakeful_tallies;
      INSERT INTO wakeful_tallies (tenant, owner, total, pending, fired, completed, failed, cancelled, timed_out,
        duration_ms_sum, duration_count)
      SELECT a.tenant, a.owner, count(*), count(*) - count(o.alarm), count(*) FILTER (WHERE o.status = 'fired'),
        count(*) FILTER (WHERE o.status = 'completed'), count(*) FILTER (WHERE o.status = 'failed'),
        count(*) FILTER (WHERE o.status = 'cancelled'), count(*) FILTER (WHERE o.status = 'timed_out'),
        250 * count(o.alarm), count(o.alarm)
      FROM wakeful_alarms a LEFT JOIN wakeful_outcomes o ON o.alarm = a.seq GROUP BY 1, 2`)
  })
}

/** One alarm set by the library, so that the copies are realistic rows. */
async function makeTemplate(path: string): Promise<void> {
  const wakeful = await open(path)
  const far = new Date(Date.now() + 365 * DAY_MS)
  await wakeful.set(far, {
    target: 'note',
    message: 'template',
    payload: { order: 7, note: 'a usual payload' },
  })
  await wakeful.close()
}

function bulk(path: string, work: (db: DatabaseSync) => void): void {
  const db = new DatabaseSync(path)
  try {
    db.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN IMMEDIATE')
    work(db)
    db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
  } finally {
    db.close()
  }
}

function copyAlarms(db: DatabaseSync, rows: number, scope: Omit<Content, 'ended'>): void {
  const now = Date.now()
  const first = now - 30 * DAY_MS
  const changed = {
    // Time-ordered like real ids.
    id: `printf('%08x-%04x-7%03x-8000-%012x', (${first} + n) / 65536, (${first} + n) % 65536, 0, n)`,
    correlation_id: `printf('correlation-%d', n)`,
    target: `CASE WHEN n % 10007 = 0 THEN '${RARE_TARGET}' ELSE 'work' || (n / 7 % 5) END`,
    fire_at: `${now + 30 * DAY_MS} + (n * 7919) % ${rows} * 1000`,
    created_at: `${first} + n * ${(30 * DAY_MS) / rows}`,
    updated_at: `${first} + n * ${(30 * DAY_MS) / rows}`,
    ...scope,
  }
  db.exec(`
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${rows})
    INSERT INTO wakeful_alarms (${columnsOf(db, 'wakeful_alarms', ['seq'])})
    SELECT ${columnsOf(db, 'wakeful_alarms', ['seq'], {
      ...changed,
      created_at: `CAST(${changed.created_at} AS INTEGER)`,
      updated_at: `CAST(${changed.updated_at} AS INTEGER)`,
    })} FROM numbers, (SELECT * FROM wakeful_alarms WHERE seq = 1) t`)
}

/** The columns of a table, or their values in a copy of its template row `t`. */
function columnsOf(
  db: DatabaseSync,
  table: string,
  without: readonly string[],
  changed?: Readonly<Record<string, string>>,
): string {
  const columns = (db.prepare(`PRAGMA table_info(${table})`).all() as { name: string }[])
    .map(({ name }) => name)
    .filter((name) => !without.includes(name))
  if (changed === undefined) return columns.join(', ')
  return columns.map((name) => changed[name] ?? `t.${name}`).join(', ')
}
