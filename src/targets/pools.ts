import { assertText } from '../alarm/index.ts'
import { WakefulError } from '../error.ts'

/** The pool of the targets every process can run. */
export const BUILT_IN_POOL = 'wakeful'

/** The pool of an application's handlers where it names none. */
export const DEFAULT_POOL = 'app'

/** Refuses names that could not stand in a file's name or a subject. */
export function assertPool(pool: unknown): string {
  const name = assertText('pool', pool, 64)
  if (/^[a-z0-9][a-z0-9_-]*$/.test(name)) return name
  throw new WakefulError(
    'invalid_request',
    `pool ${JSON.stringify(name)} must be lower-case letters, digits, - and _, at most 64`,
  )
}
