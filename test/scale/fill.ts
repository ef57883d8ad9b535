import { DatabaseSync } from 'node:sqlite'
import { open } from '../../src/index.ts'

/** Targets of the generated rows. The last one is rare. */
const TARGETS = ['bill', 'clean', 'mail', 'report', 'sync'] as const
export const RARE_TARGET = 'rare'

const DAY_MS = 86_400_000

/** Creates a store with this many pending alarms, all far off and in random due order. */
export async function fillPending(path: string, rows: number): Promise<void> {
  await makeTemplate(path)
  bulk(path, (db) => {
    copyAlarms(db, rows)
    // A prime step visits every index once, unlike the order of creation.
    db.prepare(
      `INSERT INTO wakeful_timers (${columnsOf(db, 'wakeful_timers', ['id'])})
       SELECT ${columnsOf(db, 'wakeful_timers', ['id'], {
         alarm: 'a.seq',
         wake_at: 'a.fire_at',
         scheduled_for: 'a.fire_at',
         target: 'a.target',
       })} FROM (SELECT * FROM wakeful_timers LIMIT 1) t, (SELECT seq, fire_at, target FROM wakeful_alarms WHERE seq > 1) a`,
    ).run()
    db.exec(`UPDATE wakeful_tallies SET total = total + ${rows}, pending = pending + ${rows}`)
  })
}

/** Creates a store with this many ended alarms of the last 30 days, in every final state. */
export async function fillEnded(path: string, rows: number): Promise<void> {
  await makeTemplate(path)
  bulk(path, (db) => {
    copyAlarms(db, rows)
    db.exec(`
      INSERT INTO wakeful_outcomes (alarm, tenant, owner, target, status, started_at, last_fired_at, completed_at,
        duration_ms, result, last_error, failure_count, attempts)
      SELECT seq, tenant, owner, target,
        CASE WHEN seq % 100 < 75 THEN 'fired' WHEN seq % 100 < 90 THEN 'completed' WHEN seq % 100 < 95 THEN 'cancelled'
          WHEN seq % 1000 < 999 THEN 'failed' ELSE 'timed_out' END,
        created_at + 1000, created_at + 1000, created_at + 1250, 250, NULL, NULL, 0, 1
      FROM wakeful_alarms WHERE seq > 1;
      INSERT INTO wakeful_events (id, tenant, owner, type, origin, alarm, occurrence, subject, correlation_id, at, data)
      SELECT id, tenant, owner, 'alarm.fired', 'caused', seq, '1-' || fire_at, NULL, correlation_id, created_at + 1250,
        '{"attempt":1}' FROM wakeful_alarms WHERE seq > 1;
      UPDATE wakeful_tallies SET total = total + ${rows},
        completed = (SELECT count(*) FROM wakeful_outcomes WHERE status IN ('fired', 'completed')),
        failed = (SELECT count(*) FROM wakeful_outcomes WHERE status = 'failed'),
        cancelled = (SELECT count(*) FROM wakeful_outcomes WHERE status = 'cancelled'),
        timed_out = (SELECT count(*) FROM wakeful_outcomes WHERE status = 'timed_out'),
        duration_ms_sum = 250 * ${rows}, duration_count = ${rows}`)
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

function copyAlarms(db: DatabaseSync, rows: number): void {
  const now = Date.now()
  const first = now - 30 * DAY_MS
  const targets = TARGETS.map((name, i) => `WHEN ${i} THEN '${name}'`).join(' ')
  const changed = {
    // Time-ordered like real ids.
    id: `printf('%08x-%04x-7%03x-8000-%012x', (${first} + n.i) / 65536, (${first} + n.i) % 65536, 0, n.i)`,
    correlation_id: `printf('correlation-%d', n.i)`,
    target: `CASE WHEN n.i % 10007 = 0 THEN '${RARE_TARGET}' ELSE CASE n.i % ${TARGETS.length} ${targets} END END`,
    fire_at: `${now + 30 * DAY_MS} + (n.i * 7919) % ${rows} * 1000`,
    created_at: `${first} + n.i * ${(30 * DAY_MS) / rows}`,
    updated_at: `${first} + n.i * ${(30 * DAY_MS) / rows}`,
  }
  db.exec(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
    INSERT INTO wakeful_alarms (${columnsOf(db, 'wakeful_alarms', ['seq'])})
    SELECT ${columnsOf(db, 'wakeful_alarms', ['seq'], {
      ...changed,
      created_at: `CAST(${changed.created_at} AS INTEGER)`,
      updated_at: `CAST(${changed.updated_at} AS INTEGER)`,
    })} FROM n, (SELECT * FROM wakeful_alarms WHERE seq = 1) t`)
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
