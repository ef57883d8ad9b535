import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { indexOf, parameterColumns, valuesOf } from './statement-columns.ts'

type Value = string | number | null

/** A row of a table by column name. */
export type ModelRow = Readonly<Record<string, Value>>

/** The first row that Wakeful wrote to this table, by its first column, which is the key: raw loops copy it. */
export function firstRow(db: DatabaseSync, table: string): ModelRow {
  const row = db.prepare(`SELECT * FROM ${table} ORDER BY 1 LIMIT 1`).get()
  if (row === undefined) throw new Error(`${table} is empty: write the model rows first`)
  return row as ModelRow
}

/**
 * One of the store's statements, with every parameter bound from a model row. A loop overwrites the few values that
 * differ from row to row, and runs it.
 */
export class BoundStatement {
  readonly values: Value[]
  readonly #columns: readonly string[]
  readonly #statement: StatementSync

  constructor(db: DatabaseSync, text: string, model: ModelRow) {
    this.#statement = db.prepare(text)
    this.#columns = parameterColumns(text)
    this.values = valuesOf(model, this.#columns)
  }

  /** The position of a column in `values`. */
  indexOf(column: string): number {
    return indexOf(this.#columns, column)
  }

  /** Writes one row and returns its rowid. Without the check, a loop that changes nothing could run forever. */
  run(): number {
    const { changes, lastInsertRowid } = this.#statement.run(...this.values)
    if (changes !== 1) throw new Error(`${changes} rows changed instead of 1: ${this.#statement.sourceSQL}`)
    return Number(lastInsertRowid)
  }
}
