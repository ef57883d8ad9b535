import { assertText } from '../alarm/index.ts'
import { WakefulError } from '../error.ts'

export { BUILT_IN_POOL, DEFAULT_POOL } from '../alarm/index.ts'

/** Refuses names that could not stand in a file's name or a subject. */
export function assertPool(pool: unknown): string {
  const name = assertText('pool', pool, 64)
  if (/^[a-z0-9][a-z0-9_-]*$/.test(name)) return name
  throw new WakefulError('pool.malformed', { name: JSON.stringify(name) })
}
