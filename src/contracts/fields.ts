import { z } from 'zod'
import { assertInteger, assertName, assertText, type TargetSpec } from '../alarm/index.ts'
import { WakefulError } from '../error.ts'

/** A JSON Schema: how OpenAPI and the tools of agents describe a value. */
type Described = Readonly<Record<string, unknown>>

/**
 * A value that the library checks: its type is the one that the library takes. The schema describes it and rejects
 * nothing: with two judges, one mistake would have two reasons, one in the library and one over the network.
 */
export const judged = <T = string>(described: Described) =>
  z.unknown().meta(described) as unknown as z.ZodType<T>

/** The same of a value that must be there. */
const required = <T = string>(described: Described) =>
  z.unknown().refine(isPresent).meta(described) as unknown as z.ZodType<T>

/** One of a few texts, which the library checks. */
export const choice = <T extends string>(values: readonly T[], description: string) =>
  judged<T>({ type: 'string', enum: values, description })

/** The id of something. */
export const idOf = (description: string) => required({ type: 'string', minLength: 1, description })

/** A value that the library does not check, because only the server has the call: the same checks, made here. */
const checkedHere = <T>(read: (value: unknown) => T, described: Described) =>
  z
    .unknown()
    .refine(isPresent, { abort: true })
    .transform((value, context) => {
      try {
        return read(value)
      } catch (error) {
        if (!(error instanceof WakefulError)) throw error
        context.addIssue({ code: 'custom', params: { error } })
        return z.NEVER
      }
    })
    .meta(described) as unknown as z.ZodType<T>

function isPresent(value: unknown): boolean {
  return value !== undefined
}

/**
 * The limit of a text, in a description. It counts bytes and the `maxLength` of JSON Schema counts characters, so OpenAPI
 * says it in words, and agents are not told, who have to read every word.
 */
export const BYTES_MAX = 'x-bytes-max'

const textOf = (description: string, bytesMax: number) => ({
  type: 'string',
  description,
  [BYTES_MAX]: bytesMax,
})
const nameOf = (description: string, bytesMax: number) => ({
  ...textOf(description, bytesMax),
  minLength: 1,
})

/** A text that the library checks. */
export const text = (description: string, bytesMax = 512) => judged(textOf(description, bytesMax))

/** A name that the library checks and that must be there: a text that must not be empty. */
export const name = (description: string, bytesMax = 512) => required(nameOf(description, bytesMax))

/** A text of a call that only the server has. */
export const ownText = (description: string, bytesMax = 512) =>
  checkedHere((value) => assertText('', value, bytesMax), textOf(description, bytesMax))

/** A name of a call that only the server has. */
export const ownName = (description: string, bytesMax = 512) =>
  checkedHere((value) => assertName('', value, bytesMax), nameOf(description, bytesMax))

/** A duration. */
export const duration = (description: string, example = '5m') =>
  judged({
    type: 'string',
    minLength: 1,
    description: `${description} As \`10s\`, \`5m\`, \`1h30m\` or ISO 8601 (\`PT5M\`).`,
    examples: [example],
  })

/** An instant, or a rule, as text. */
export const moment = (description: string) => judged({ type: 'string', minLength: 1, description })

/** An instant in a response. */
export const instant = (description: string) =>
  z.string().meta({ description, format: 'date-time', examples: ['2030-01-01T09:00:00.000Z'] })

/** How descriptions name the default zone. The tools of agents replace it where the default is another one. */
export const DEFAULT_ZONE_TEXT = 'Default: UTC.'

/** An IANA time zone. */
export const timezone = judged({
  type: 'string',
  minLength: 1,
  description: `The IANA time zone of the time. ${DEFAULT_ZONE_TEXT}`,
  examples: ['Europe/Rome'],
})

/** A whole number of a call that only the server has. */
export const whole = (
  minimum: number,
  maximum: number | null,
  description: string,
  read = (value: unknown) => value,
) =>
  checkedHere((value) => assertInteger('', read(value), minimum, maximum), {
    type: 'integer',
    minimum,
    ...(maximum !== null && { maximum }),
    description,
  })

/** The maximum number of items of a page. */
export const limit = (standard: number, max = 500) =>
  whole(1, max, `Maximum number of items. Default: ${standard}, at most ${max}.`, numberOf).optional()

/** A number that a query has as text. What is no number stays as it is, and is refused as that. */
function numberOf(value: unknown): unknown {
  return typeof value === 'string' && value.trim() !== '' && !Number.isNaN(Number(value))
    ? Number(value)
    : value
}

const CURSOR_TEXT = 'The `next_cursor` of the previous page. Omit it for the first page.'

/** The cursor of a page. */
export const cursor = judged({ type: 'string', description: CURSOR_TEXT }).optional()

/** The cursor of a page of a list that only the server has. */
export const ownCursor = ownText(CURSOR_TEXT).optional()

/** A time in the log, as `resolveSince` reads it. */
export const eventTime = (description: string) =>
  judged({
    type: 'string',
    minLength: 1,
    description: `${description}: an instant, seconds since 1970, or a duration, which means that long ago (\`2h\`).`,
    examples: ['2h'],
  })

/** The start of a list in time, as `resolveSince` reads it. */
export const since = judged({
  type: 'string',
  minLength: 1,
  description:
    'Only alarms set since then: an instant, seconds since 1970, or a duration, which means that long ago (`2h`).',
  examples: ['2h'],
}).optional()

/** A target in a request. */
export const targetSpec = judged<TargetSpec>({
  id: 'Target',
  anyOf: [
    { type: 'string', minLength: 1, description: 'The name of a handler, or `inbox`.' },
    {
      type: 'object',
      propertyNames: { type: 'string' },
      additionalProperties: {},
      description:
        'An object that names its kind: `{ "webhook": "https://…" }`, `{ "event": true }`, `{ "inbox": true }`.',
    },
  ],
  examples: [{ webhook: 'https://example.com/wake' }, 'inbox', { event: true }],
})
