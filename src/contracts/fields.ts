import { z } from 'zod'

/** What a string stands for: a number in its place gets an error of its own. */
export const expectation = z.registry<{ kind: 'duration' | 'instant' }>()

/** A string of the caller's that every store can keep and search: without NUL, and without half a surrogate pair. */
export const plain = () =>
  z
    .string()
    .refine((given) => !given.includes('\0'), { params: { reason: 'field.nul_character' } })
    .refine((given) => given.isWellFormed(), { params: { reason: 'field.lone_surrogate' } })

/** A name of the caller's own. The exact bound is in bytes of UTF-8, and checked where it is stored. */
export const text = (description: string, max = 512) => plain().max(max).meta({ description })

/** A name that must not be empty. */
export const name = (description: string, max = 512) => plain().min(1).max(max).meta({ description })

/** A duration. */
export const duration = (description: string, example = '5m') =>
  plain()
    .min(1)
    .max(100)
    .meta({
      description: `${description} As \`10s\`, \`5m\`, \`1h30m\` or ISO 8601 (\`PT5M\`).`,
      examples: [example],
    })
    .register(expectation, { kind: 'duration' })

/** An instant as a request writes it. */
export const givenInstant = (description: string) =>
  plain().min(1).max(200).meta({ description }).register(expectation, { kind: 'instant' })

/** An instant in an answer. */
export const instant = (description: string) =>
  z.string().meta({ description, format: 'date-time', examples: ['2030-01-01T09:00:00.000Z'] })

/** An IANA time zone. */
export const timezone = plain()
  .min(1)
  .max(100)
  .meta({ description: 'The IANA time zone in which it is read. UTC by default.', examples: ['Europe/Rome'] })

/** How many items of a list. In a query everything is a text. */
export const limit = (standard: number, max = 500) =>
  z.coerce
    .number()
    .int()
    .min(1)
    .max(max)
    .optional()
    .meta({ description: `How many at most; ${standard} where nothing is said, ${max} at most.` })

/** Where a page begins. */
export const cursor = plain()
  .max(500)
  .optional()
  .meta({ description: 'The `next_cursor` of the page before; left out for the first page.' })

/** A moment that bounds a list, as `resolveSince` reads it. */
export const since = plain()
  .min(1)
  .max(200)
  .optional()
  .meta({
    description:
      'Only what was set from this moment on: an instant, seconds since 1970, or a duration, which means so long ago (`2h`).',
    examples: ['2h'],
  })

/** Where a fire goes, as it is written in a request. */
export const targetSpec = z
  .union([
    plain().min(1).max(512).meta({ description: 'The name of a handler, or `inbox`.' }),
    z.record(z.string(), z.unknown()).meta({
      description:
        'An object that names its kind: `{ "webhook": "https://…" }`, `{ "event": true }`, `{ "inbox": true }`.',
    }),
  ])
  .meta({ id: 'Target', examples: [{ webhook: 'https://example.com/wake' }, 'inbox', { event: true }] })
