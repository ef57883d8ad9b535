import * as queries from '../../src/stores/postgres/queries.ts'

const names = new Map(
  Object.entries(queries).flatMap(([name, text]) => (typeof text === 'string' ? [[squeezed(text), name]] : [])),
)
const SCHEMA = /"\w+"\./g

/** What a statement is called in `queries.ts`, or how it begins. */
export function nameOf(text: string): string {
  const known = names.get(squeezed(text.replace(SCHEMA, 'wakeful.')))
  if (known !== undefined) return known
  return text.startsWith('BEGIN') ? 'BEGIN' : squeezed(text).slice(0, 48)
}

/** Statements that neither look at a row nor hold or free one: READ COMMITTED looks when the next one begins. */
export function isGlue(text: string): boolean {
  // Which shards a pool has is fixed before a schedule begins.
  return /^(?:BEGIN|SET LOCAL|SAVEPOINT|RELEASE)\b/.test(text) || nameOf(text) === 'shardsOfPool'
}

function squeezed(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
