import type { z } from 'zod'
import { unknownField, wrongFields } from './wrong-fields.ts'

/** What was given, checked against its contract. */
export function checked(schema: z.ZodObject, given: unknown): unknown {
  const parsed = schema.safeParse(given)
  if (parsed.success) {
    assertPlainNames(given)
    return parsed.data
  }
  throw wrongFields(parsed.error, schema, given)
}

/** Zod passes over this one name where any name is allowed: what is not kept must not look as if it were. */
export function assertPlainNames(given: unknown): void {
  if (typeof given !== 'object' || given === null) return
  if (Object.hasOwn(given, '__proto__')) throw unknownField('__proto__', [])
  for (const each of Object.values(given)) assertPlainNames(each)
}
