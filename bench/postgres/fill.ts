import { onDatabase } from './bed.ts'

/** Fills the tables with alarms that are due in years: copies of one that was set, spread over the shards and over time. */
export function fill(url: string, count: number): Promise<void> {
  return onDatabase(url, async (client) => {
    const copied = async (table: string, changes: Readonly<Record<string, string>>, where: string) => {
      const { rows } = await client.query<{ name: string }>(
        `SELECT attname AS name FROM pg_attribute WHERE attrelid = 'wakeful.${table}'::regclass AND attnum > 0 AND NOT attisdropped`,
      )
      const names = rows.map(({ name }) => name)
      await client.query(
        `INSERT INTO wakeful.${table} (${names.join(', ')})
         SELECT ${names.map((name) => changes[name] ?? `m.${name}`).join(', ')}
         FROM (SELECT * FROM wakeful.${table} WHERE ${where} LIMIT 1) m, generate_series(1, ${count}) AS n`,
      )
    }
    const { rows } = await client.query<{ seq: string; shards: number[] }>(
      `SELECT max(seq) AS seq, (SELECT array_agg(shard) FROM wakeful.shards WHERE pool = 'app') AS shards FROM wakeful.alarms`,
    )
    const { seq, shards } = rows[0]!
    const wakeAt = 'm.wake_at + n * 1000'
    await copied(
      'alarms',
      { seq: `${seq} + n`, id: "m.id || '-' || n", correlation_id: "m.correlation_id || '-' || n" },
      "target = 'noop'",
    )
    const shard = `('{${shards.join()}}'::int[])[1 + n % ${shards.length}]`
    const timer = { id: `${seq} + n`, alarm: `${seq} + n`, shard, wake_at: wakeAt, scheduled_for: wakeAt }
    await copied('timers', timer, "target = 'noop'")
    await client.query(`SELECT setval(pg_get_serial_sequence('wakeful.alarms', 'seq'), ${seq} + ${count} + 1),
      setval(pg_get_serial_sequence('wakeful.timers', 'id'), (SELECT max(id) + 1 FROM wakeful.timers))`)
    await client.query(
      'UPDATE wakeful.tallies SET total = total + $1, pending = pending + $1 WHERE ctid = (SELECT min(ctid) FROM wakeful.tallies)',
      [count],
    )
    await client.query('VACUUM ANALYZE')
  })
}
