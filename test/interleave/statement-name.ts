import * as queries from '../../src/stores/postgres/sql/queries.ts'

const names = new Map<string, string>()
learnNames(queries)
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

/** Learns what the statements of a module are called. */
export function learnNames(module: object): void {
  for (const [name, text] of Object.entries(module))
    if (typeof text === 'string') names.set(squeezed(text), name)
}

function squeezed(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
