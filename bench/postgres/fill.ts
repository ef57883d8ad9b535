import type pg from 'pg'
import { withClient } from './server.ts'

/**
 * Adds pending alarms that are due in years: copies of the first alarm, spread over the shards and over time. The columns
 * are read from the database, so that a new one is copied too.
 */
export function fill(url: string, count: number): Promise<void> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ seq: string; shards: number[] }>(
      `SELECT max(seq) AS seq, (SELECT array_agg(shard) FROM wakeful.shards WHERE pool = 'app') AS shards FROM wakeful.alarms`,
    )
    const { seq, shards } = rows[0]!
    const next = `${seq} + n`
    await copyRow(client, count, 'alarms', 'seq = (SELECT min(alarm) FROM wakeful.timers)', {
      seq: next,
      id: "m.id || '-' || n",
      correlation_id: "m.id || '-' || n",
    })
    await copyRow(client, count, 'timers', 'id = (SELECT min(id) FROM wakeful.timers)', {
      id: next,
      alarm: next,
      shard: `('{${shards.join()}}'::int[])[1 + n % ${shards.length}]`,
      wake_at: 'm.wake_at + n * 1000',
      scheduled_for: 'm.wake_at + n * 1000',
    })
    await client.query(`SELECT setval(pg_get_serial_sequence('wakeful.alarms', 'seq'), ${seq} + ${count} + 1),
      setval(pg_get_serial_sequence('wakeful.timers', 'id'), (SELECT max(id) + 1 FROM wakeful.timers))`)
    await client.query(
      'UPDATE wakeful.tallies SET total = total + $1, pending = pending + $1 WHERE ctid = (SELECT min(ctid) FROM wakeful.tallies)',
      [count],
    )
    await client.query('VACUUM ANALYZE')
  })
}

/** Inserts copies of one row (`m`), numbered `n`, with some columns changed. */
async function copyRow(
  client: pg.Client,
  count: number,
  table: string,
  where: string,
  changes: Readonly<Record<string, string>>,
): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = 'wakeful.${table}'::regclass AND attnum > 0 AND NOT attisdropped`,
  )
  const names = rows.map(({ name }) => name)
  const unknown = Object.keys(changes).filter((name) => !names.includes(name))
  if (unknown.length > 0) throw new Error(`wakeful.${table} has no column ${unknown.join(', ')}`)
  await client.query(
    `INSERT INTO wakeful.${table} (${names.join(', ')})
     SELECT ${names.map((name) => changes[name] ?? `m.${name}`).join(', ')}
     FROM (SELECT * FROM wakeful.${table} WHERE ${where}) m, generate_series(1, ${count}) AS n`,
  )
}
