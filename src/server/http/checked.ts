import type { z } from 'zod'
import { WakefulError } from '../../error.ts'
import { refuse } from './problem.ts'

/** What was given, checked against its contract. */
export function checked(schema: z.ZodObject, given: unknown): unknown {
  const parsed = schema.safeParse(given)
  if (parsed.success) {
    assertPlainNames(given)
    return parsed.data
  }
  throw refuse(parsed.error, Object.keys(schema.shape))
}

/** Zod passes over this one name where any name is allowed: what is not kept must not look as if it were. */
function assertPlainNames(given: unknown): void {
  if (typeof given !== 'object' || given === null) return
  if (Object.hasOwn(given, '__proto__'))
    throw new WakefulError('invalid_request', 'unknown field "__proto__"')
  for (const each of Object.values(given)) assertPlainNames(each)
}
