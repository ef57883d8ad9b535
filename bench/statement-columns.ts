/**
 * The raw loops run the store's own statements and bind their parameters by column name. The names are read from the
 * statement itself, so a column that the store adds is bound from the model row without a change here.
 */

/** The columns that an `INSERT` writes, in order. */
export function insertColumns(statement: string): string[] {
  const list = /\bINSERT INTO \S+(?: AS \w+)?\s*\(([^)]*)\)/.exec(statement)?.[1]
  if (list === undefined) throw new Error(`No column list found in: ${statement}`)
  return items(list)
}

/** The column of every `?` of a statement, in order: of `(columns) VALUES (?, …)` or of each `column = ?`. */
export function parameterColumns(statement: string): string[] {
  const values = /\bVALUES\s*\(([^)]*)\)/.exec(statement)?.[1]
  const columns =
    values === undefined
      ? [...statement.matchAll(/(\w+) = \?/g)].map((match) => match[1]!)
      : insertColumns(statement).filter((_, index) => items(values)[index] === '?')
  const marks = statement.split('?').length - 1
  if (columns.length !== marks)
    throw new Error(`${columns.length} of ${marks} parameters found in: ${statement}`)
  return columns
}

/** The values of a model row for these columns, in order. */
export function valuesOf<T>(model: Readonly<Record<string, T>>, columns: readonly string[]): T[] {
  return columns.map((column) => {
    if (!(column in model)) throw new Error(`The model row has no column ${column}`)
    return model[column] as T
  })
}

/** The position of a column in a list of columns. */
export function indexOf(columns: readonly string[], column: string): number {
  const index = columns.indexOf(column)
  if (index < 0) throw new Error(`There is no column ${column} among ${columns.join(', ')}`)
  return index
}

function items(list: string): string[] {
  return list.split(',').map((item) => item.trim())
}
