import { DatabaseSync } from 'node:sqlite'
import type pg from 'pg'

type Row = Record<string, unknown>

/** All rows of a store, by table. */
export type Look = () => Promise<Record<string, Row[]>>

/** Reads a SQLite file while the server runs. */
export function sqliteLook(file: string): Look {
  return async () => {
    const database = new DatabaseSync(file, { readOnly: true })
    try {
      const names = database.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'wakeful_%'",
      )
      return Object.fromEntries(
        names
          .all()
          .map(({ name }) => [String(name), database.prepare(`SELECT * FROM ${name}`).all() as Row[]]),
      )
    } finally {
      database.close()
    }
  }
}

/** Reads a PostgreSQL database while the server runs. */
export function postgresLook(client: pg.Client): Look {
  return async () => {
    const { rows } = await client.query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'wakeful'",
    )
    const tables: Record<string, Row[]> = {}
    for (const { name } of rows) tables[name] = (await client.query(`SELECT * FROM wakeful.${name}`)).rows
    return tables
  }
}

/** Every row that belongs to the victims, as sorted texts. */
export function theirs(tables: Record<string, Row[]>): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(tables).map(([name, rows]) => [name, rows.filter(isTheirs).map(text).sort()]),
  )
}

function isTheirs(row: Row): boolean {
  if (row.tenant === 'globex') return true
  if (row.tenant !== 'acme') return false
  return row.owner === undefined ? /\bbob\b/.test(text(row)) : row.owner === 'bob'
}

function text(row: Row): string {
  return JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
}
