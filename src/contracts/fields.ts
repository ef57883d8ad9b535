import { z } from 'zod'
import { hasNoNul, isWellFormed } from '../alarm/index.ts'

/** What a string means, so that a number in its place gets a helpful error. */
export const expectation = z.registry<{ kind: 'duration' | 'instant' }>()

/** A string that every store can keep and search: without NUL, and without half a surrogate pair. */
export const plain = () =>
  z
    .string()
    .refine(hasNoNul, { params: { reason: 'field.nul_character' } })
    .refine(isWellFormed, { params: { reason: 'field.lone_surrogate' } })

/** A text of the caller. The exact limit is in bytes of UTF-8, and the library checks it. */
export const text = (description: string, max = 512) => plain().max(max).describe(description)

/** A name that must not be empty. */
export const name = (description: string, max = 512) => plain().min(1).max(max).describe(description)

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

/** An instant in a request. */
export const instantInput = (description: string) =>
  plain().min(1).max(200).describe(description).register(expectation, { kind: 'instant' })

/** An instant in a response. */
export const instant = (description: string) =>
  z.string().meta({ description, format: 'date-time', examples: ['2030-01-01T09:00:00.000Z'] })

/** How descriptions name the default zone. The tools of agents replace it where the default is another one. */
export const DEFAULT_ZONE_TEXT = 'Default: UTC.'

/** An IANA time zone. */
export const timezone = plain()
  .min(1)
  .max(100)
  .meta({ description: `The IANA time zone of the time. ${DEFAULT_ZONE_TEXT}`, examples: ['Europe/Rome'] })

/** The maximum number of items of a page; a query has it as a text. */
export const limit = (standard: number, max = 500) =>
  z.coerce
    .number()
    .int()
    .min(1)
    .max(max)
    .optional()
    .describe(`Maximum number of items. Default: ${standard}, at most ${max}.`)

/** The cursor of a page. */
export const cursor = plain()
  .max(500)
  .optional()
  .describe('The `next_cursor` of the previous page. Omit it for the first page.')

/** The start of a list in time, as `resolveSince` reads it. */
export const since = plain()
  .min(1)
  .max(200)
  .optional()
  .meta({
    description:
      'Only alarms set since then: an instant, seconds since 1970, or a duration, which means that long ago (`2h`).',
    examples: ['2h'],
  })

/** A target in a request. */
export const targetSpec = z
  .union([
    plain().min(1).max(512).describe('The name of a handler, or `inbox`.'),
    z
      .record(z.string(), z.unknown())
      .describe(
        'An object that names its kind: `{ "webhook": "https://…" }`, `{ "event": true }`, `{ "inbox": true }`.',
      ),
  ])
  .meta({ id: 'Target', examples: [{ webhook: 'https://example.com/wake' }, 'inbox', { event: true }] })
