import pg from 'pg'
import { open } from '../../src/index.ts'
import { copyRows, moveSequences, withoutIndexes } from '../postgres/copies.ts'

const DAY_MS = 86_400_000
/** Almost everything belongs to one tenant. Reads of a small one must not scan its rows. */
export const BIG = 'big'
export const SMALL = 'small3'
export const RARE_TARGET = 'rare'

/** Whose each alarm is, and its label: SQL of its number `n`. */
export interface Spread {
  readonly tenant: string
  readonly owner: string
  readonly label: string
}

const ONE_BIG: Spread = {
  tenant: `CASE WHEN n % 1000 < 990 THEN '${BIG}' ELSE 'small' || n % 10 END`,
  owner: "''",
  label: "'l' || n % 1000",
}

/** Fills a fresh database with this many pending alarms in random due order, and as many ended ones. */
export async function fillPostgres(url: string, rows: number, spread = ONE_BIG): Promise<void> {
  const wakeful = await open(url)
  // Its pool's shards are created when a process starts.
  wakeful.handle('work0', () => {})
  await wakeful.start()
  await wakeful
    .forTenant(BIG)
    .set({ delay: '1d' }, { target: 'work0', label: 'l', subject: 's', payload: { order: 7 } })
  await wakeful.close()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('SET synchronous_commit = off')
    await withoutIndexes(client, () => copyAll(client, rows, spread))
    await client.query('VACUUM ANALYZE')
  } finally {
    await client.end()
  }
}

/** Of every two thousand, the second thousand have ended. */
async function copyAll(client: pg.Client, rows: number, spread: Spread): Promise<void> {
  const now = Date.now()
  const createdAt = `${now - 30 * DAY_MS} + (n::bigint * ${30 * DAY_MS}) / ${2 * rows}`
  // A prime step visits every index once, unlike the order of creation.
  const dueAt = `${now + DAY_MS} + (n::bigint * 7919) % ${2 * rows} * 1000`
  await copyRows(client, 'alarms', 2 * rows, {
    seq: '1 + n',
    id: "'id-' || n",
    ...spread,
    target: `CASE WHEN n % 10007 < 2 THEN '${RARE_TARGET}' ELSE 'work' || n / 7 % 5 END`,
    subject: "'s' || n / 20",
    conversation_id: "'c' || n / 20",
    key: "'k' || n",
    idempotency_key: "'i' || n",
    correlation_id: "'r' || n",
    fire_at: dueAt,
    created_at: createdAt,
    updated_at: createdAt,
    paused_at: `CASE WHEN n % 2000 = 1 THEN ${now} END`,
  })
  await client.query(`
    INSERT INTO wakeful.outcomes (alarm, tenant, owner, target, status, started_at, last_fired_at, completed_at,
      duration_ms, failure_count, attempts)
    SELECT seq, tenant, owner, target, CASE WHEN seq % 100 < 75 THEN 'fired' WHEN seq % 100 < 90 THEN 'completed'
      WHEN seq % 100 < 95 THEN 'cancelled' WHEN seq % 1000 < 998 THEN 'failed' ELSE 'timed_out' END,
      created_at, created_at, created_at + 250, 250, 0, 1 FROM wakeful.alarms WHERE seq > 1 AND seq / 1000 % 2 = 1;
    INSERT INTO wakeful.events (id, tenant, owner, type, origin, alarm, occurrence, correlation_id, at, data, failure)
    SELECT a.id, a.tenant, a.owner, 'alarm.' || o.status, 'caused', a.seq, '1-' || a.fire_at, a.correlation_id,
      a.created_at + 250, '{"attempt":1}', CASE WHEN o.status IN ('failed', 'timed_out') THEN o.status END
      FROM wakeful.alarms a JOIN wakeful.outcomes o ON o.alarm = a.seq WHERE a.seq > 1 AND a.seq / 1000 % 2 = 1;
    INSERT INTO wakeful.timers (alarm, tenant, owner, target, shard, kind, wake_at, scheduled_for, tick, generation,
      attempt, waiting, delivered, version, edited)
    SELECT a.seq, a.tenant, a.owner, a.target, s.shards[1 + a.seq % cardinality(s.shards)],
      CASE WHEN a.seq % 2000 = 500 THEN 'report' ELSE 'due' END, CASE WHEN a.paused_at IS NULL THEN a.fire_at END,
      a.fire_at, 1, 1, 0, CASE WHEN a.paused_at IS NOT NULL THEN 'paused' END, 0, 1, 0
    FROM wakeful.alarms a, (SELECT array_agg(shard) AS shards FROM wakeful.shards WHERE pool = 'app') s
    WHERE a.seq > 1 AND a.seq / 1000 % 2 = 0`)
  await moveSequences(client)
  await client.query(
    `INSERT INTO wakeful.tallies AS t SELECT a.tenant, a.owner, 0, count(*), count(o.alarm) FILTER (WHERE false),
       0, 0, 0, 0, 0, 0, 0 FROM wakeful.alarms a LEFT JOIN wakeful.outcomes o ON o.alarm = a.seq GROUP BY 1, 2
     ON CONFLICT (tenant, owner, slot) DO UPDATE SET total = excluded.total`,
  )
}
