import * as queries from '../../src/stores/postgres/sql/queries.ts'

/**
 * The name of a statement in `queries.ts`. With this type, renaming a query is a type error here, not a fault that
 * never happens.
 */
export type StatementName = keyof typeof queries

const names = new Map<string, string>()
learnNames(queries)
const SCHEMA = /"\w+"\./g

/** The name of a statement in `queries.ts`, or its first words. */
export function nameOf(text: string): string {
  const known = names.get(squeezed(text.replace(SCHEMA, 'wakeful.')))
  if (known !== undefined) return known
  return text.startsWith('BEGIN') ? 'BEGIN' : squeezed(text).slice(0, 48)
}

/** Statements that neither read, lock nor free a row. READ COMMITTED takes its snapshot when the next one begins. */
export function isNeutral(text: string): boolean {
  // The shards of a pool are fixed before a schedule begins.
  return /^(?:BEGIN|SET LOCAL|SAVEPOINT|RELEASE)\b/.test(text) || nameOf(text) === 'shardsOfPools'
}

/** Registers the names of a module's statements. */
export function learnNames(module: object): void {
  for (const [name, text] of Object.entries(module))
    if (typeof text === 'string') names.set(squeezed(text), name)
}

function squeezed(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
