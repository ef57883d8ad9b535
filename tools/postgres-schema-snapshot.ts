import pg from 'pg'
import { migratePostgres } from '../src/stores/postgres/index.ts'
import { startPostgres } from '../test/postgres/server.ts'

/** The schema as PostgreSQL keeps it after every migration: `npm run schema` writes it, a test compares it. */
export async function postgresSnapshot(client: pg.Client, schema: string): Promise<string> {
  const lines = async (text: string) => {
    const { rows } = await client.query<{ line: string }>(text, [schema])
    return rows.map(({ line }) => line.replaceAll(`${schema}.`, 'wakeful.'))
  }
  const columns =
    await lines(`SELECT format('%s.%s %s%s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
      CASE WHEN a.attnotnull THEN ' not null' ELSE '' END, CASE a.attidentity WHEN 'd' THEN ' identity' ELSE '' END) AS line
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE n.nspname = $1 AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.relname, a.attnum`)
  const settings =
    await lines(`SELECT format('%s with (%s)', c.relname, array_to_string(c.reloptions, ', ')) AS line
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relkind = 'r' AND c.reloptions IS NOT NULL ORDER BY c.relname`)
  const constraints = await lines(`SELECT format('%s %s', c.relname, pg_get_constraintdef(k.oid)) AS line
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND k.contype = 'c' ORDER BY c.relname, pg_get_constraintdef(k.oid)`)
  const indexes = await lines(
    'SELECT indexdef AS line FROM pg_indexes WHERE schemaname = $1 ORDER BY tablename, indexname',
  )
  const parts = { columns, settings, constraints, indexes }
  return Object.entries(parts)
    .map(([name, part]) => `-- ${name}\n${part.join('\n')}\n`)
    .join('\n')
}

if (import.meta.main) {
  const server = await startPostgres()
  const client = new pg.Client({ connectionString: server.url() })
  try {
    await migratePostgres(server.url(), 0)
    await client.connect()
    process.stdout.write(await postgresSnapshot(client, 'wakeful'))
  } finally {
    await client.end()
    await server.stop()
  }
}
