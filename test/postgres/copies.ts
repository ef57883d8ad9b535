import type pg from 'pg'

/** Fills a table with copies of a row that the library wrote, `m`, each changed by its number `n`. */
export async function copyRows(
  client: pg.Client,
  table: string,
  count: number,
  changes: Readonly<Record<string, string>>,
): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute
     WHERE attrelid = 'wakeful.${table}'::regclass AND attnum > 0 AND NOT attisdropped`,
  )
  const names = rows.map(({ name }) => name)
  await client.query(
    `INSERT INTO wakeful.${table} (${names.join(', ')})
     SELECT ${names.map((name) => changes[name] ?? `m.${name}`).join(', ')}
     FROM (SELECT * FROM wakeful.${table} LIMIT 1) m, generate_series(1, ${count}) AS n`,
  )
}

/** Runs bulk writes without the indexes that can be rebuilt afterwards: that halves the time. */
export async function withoutIndexes(client: pg.Client, work: () => Promise<void>): Promise<void> {
  const { rows } = await client.query<{ name: string; text: string }>(
    `SELECT indexname AS name, indexdef AS text FROM pg_indexes WHERE schemaname = 'wakeful'
     AND tablename IN ('alarms', 'timers', 'outcomes', 'events')
     AND indexname NOT IN (SELECT conname FROM pg_constraint)`,
  )
  for (const { name } of rows) await client.query(`DROP INDEX wakeful.${name}`)
  await work()
  await client.query("SET maintenance_work_mem = '256MB'")
  for (const { text } of rows) await client.query(text)
}

/** Advances the sequences past the copied numbers. */
export async function moveSequences(client: pg.Client): Promise<void> {
  for (const [table, column] of [
    ['alarms', 'seq'],
    ['timers', 'id'],
    ['events', 'seq'],
  ])
    await client.query(
      `SELECT setval(pg_get_serial_sequence('wakeful.${table}', '${column}'), max(${column}))
       FROM wakeful.${table}`,
    )
}
