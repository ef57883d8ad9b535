import { DatabaseSync } from 'node:sqlite'
import { migrate } from '../src/stores/sqlite/index.ts'

/** The schema as SQLite keeps it after every migration: `npm run schema` writes it, a test compares it. */
export async function schemaSnapshot(): Promise<string> {
  const db = new DatabaseSync(':memory:')
  await migrate(db, ':memory:', 0)
  const rows = db
    .prepare(
      "SELECT sql FROM sqlite_schema WHERE name LIKE 'wakeful%' AND sql IS NOT NULL ORDER BY type DESC, name",
    )
    .all() as { sql: string }[]
  return `${rows.map((row) => `${row.sql};`).join('\n\n')}\n`
}

if (import.meta.main) process.stdout.write(await schemaSnapshot())
