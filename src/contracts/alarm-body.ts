import { z } from 'zod'
import {
  ALARM_FIELDS,
  type BodyFields,
  DEFAULT_LIMITS,
  defaultText,
  type EditOption,
  type Field,
  type NetworkOption,
  networkOptions,
  type SetOptions,
} from '../alarm/index.ts'
import { display, WakefulError } from '../error.ts'
import { libraryField } from '../errors/index.ts'
import { defined, type EditFields, type SetManyItem } from '../library/index.ts'
import type { When } from '../time/index.ts'
import { duration, instantInput, name, plain, targetSpec, text, timezone } from './fields.ts'

const moment = (description: string) => plain().min(1).max(200).describe(description)

/** The kinds of times. A request has one of them. */
const KINDS = {
  fire_at: instantInput(
    'An ISO 8601 instant: `2030-01-01T09:00:00Z`. Without an offset it is read in `timezone`.',
  ).optional(),
  delay: duration('A time from now.').optional(),
  when: moment('Plain language: `tomorrow at 9am`, `every weekday at 9:30`.').optional(),
  cron_expr: moment('Cron: five fields, six with seconds, `@daily`, `@every 5m`.').optional(),
  rrule: plain().min(1).max(10_000).describe('RFC 5545: RRULE, with DTSTART, EXDATE, RDATE.').optional(),
  every: duration('An interval.').optional(),
}

const exclude = z.union([
  plain().max(512),
  z.array(plain().max(512)).max(50),
  z.strictObject({
    calendars: z.union([plain().max(512), z.array(plain().max(512)).max(50)]).optional(),
    weekend: z.union([z.literal(true), z.array(z.union([plain().max(20), z.int()])).max(7)]).optional(),
    move: z.enum(['next', 'previous']).optional(),
    offset: z.int().optional(),
  }),
])

/** The options of a time. */
const RULE_OPTIONS = {
  timezone: timezone.optional(),
  start: instantInput('Recurring: the earliest instant.').optional(),
  end: instantInput('Recurring: the latest instant.').optional(),
  count: z.int().min(1).describe('Recurring: total number of occurrences.').optional(),
  jitter: duration('Recurring: a random delay of each occurrence, up to this.').optional(),
  dst: z
    .strictObject({
      gap: z.enum(['shift', 'skip']).optional(),
      overlap: z.enum(['first', 'last', 'both']).optional(),
    })
    .describe('What to do with a local time that a clock change skips (`gap`) or repeats (`overlap`).')
    .optional(),
  misfire: z
    .union([
      z.enum(['once', 'skip', 'all']),
      z.strictObject({
        all: z.strictObject({ max: z.int().optional(), within: plain().max(100).optional() }),
      }),
    ])
    .describe('What to do with occurrences that were missed.')
    .optional(),
  exclude: exclude.describe('Days off: names of calendars, `weekends`.').optional(),
}

/** Fast retries would keep a shared server busy. The library runs in the user's own process and allows 0. */
const BACKOFF_MS_MIN = 100

type BodyShape<Name extends NetworkOption> = {
  [W in keyof BodyFields<Name>]: z.ZodOptional<z.ZodType<BodyFields<Name>[W]>>
}

const setShape = bodyShape('set') as BodyShape<NetworkOption>
const editShape = bodyShape('edit') as BodyShape<NetworkOption & EditOption>

/** The body of a set. */
export const setBody = z.strictObject({ ...KINDS, ...RULE_OPTIONS, ...setShape }).meta({
  id: 'NewAlarm',
  description:
    'One of `fire_at`, `delay`, `when`, `cron_expr`, `rrule`, `every`, and the options of the alarm.',
})

/** The body of a set by key: the key is in the path. */
export const setByKeyBody = setBody.omit({ key: true }).meta({ id: 'AlarmByKey' })

/** The body of an edit. */
export const editBody = z.strictObject({ ...KINDS, ...RULE_OPTIONS, ...editShape }).meta({
  id: 'AlarmEdit',
  description: 'Omitted fields stay as they are. A time reschedules the alarm and resets its failures.',
})

/** The body of a preview. */
export const previewBody = z
  .strictObject({
    ...KINDS,
    ...RULE_OPTIONS,
    from: instantInput('Show instants from here on: ISO 8601.').optional(),
    instants: z
      .int()
      .min(1)
      .max(1000)
      .describe(
        'Number of instants. Default: 5. A rule whose instants are centuries apart has fewer, and a note says so.',
      )
      .optional(),
  })
  .meta({ id: 'PreviewRequest' })

type WhenFields = Partial<z.output<typeof setBody>>

function bodyShape(call: 'set' | 'edit'): Record<string, z.ZodType> {
  const fields = networkOptions(call).map((each): Field => ALARM_FIELDS[each])
  return Object.fromEntries(fields.map((field) => [field.wire, requestSchema(field).optional()]))
}

/** The schema of a field in a request. */
function requestSchema(field: Field): z.ZodType {
  const standard = defaultText(field)
  const description = standard === null ? field.doc : `${field.doc} Default: ${standard}.`
  switch (field.type) {
    case 'text': {
      const max = DEFAULT_LIMITS[field.limit ?? 'nameBytesMax']
      return field.nonEmpty ? name(description, max) : text(description, max)
    }
    case 'choice':
      return z.enum(field.values).describe(description)
    case 'integer':
      return z
        .int()
        .min(field.min!)
        .max(field.networkMax ?? field.max!)
        .describe(description)
    case 'duration':
      return duration(description)
    case 'target':
      return field.wire === 'target' ? targetSpec : targetSpec.describe(description)
    case 'backoff':
      return z
        .strictObject({
          base_ms: z.int().min(BACKOFF_MS_MIN).optional(),
          cap_ms: z.int().min(BACKOFF_MS_MIN).optional(),
        })
        .describe(`${description} Neither may be below ${BACKOFF_MS_MIN} ms.`)
    default:
      return z.unknown().describe(description)
  }
}

/** The fields of a body that are kept as text, so that they come back unchanged (promise: verbatim). */
export const BODY_VERBATIM = { payload: true, data: true, items: { payload: true } } as const

/** The same for a WebSocket message. */
export const WS_VERBATIM = { args: BODY_VERBATIM }

/** The same for an MCP message. */
export const MCP_VERBATIM = { params: { arguments: BODY_VERBATIM } }

const ISO_DATE = /^\s*(?:\d{4}-\d\d-\d\d|\d{8}[Tt])/

const KIND_NAMES = Object.keys(KINDS) as (keyof typeof KINDS)[]
const TIME_NAMES = [...KIND_NAMES, ...(Object.keys(RULE_OPTIONS) as (keyof typeof RULE_OPTIONS)[])]
/** The fields of a time whose name in the library is another. */
const RENAMED: Readonly<Record<string, string>> = { fire_at: 'at', when: 'at', cron_expr: 'cron' }

/** The kinds of times that a body has. */
function kindsOf(body: WhenFields): readonly string[] {
  return KIND_NAMES.filter((kind) => body[kind] !== undefined)
}

/** The time of a body as the library takes it; null if the body has none. */
function whenOf(body: WhenFields): When | null {
  const kinds = kindsOf(body)
  if (kinds.length > 1) throw notOne(kinds)
  const { fire_at } = body
  if (fire_at !== undefined && !ISO_DATE.test(fire_at)) {
    const params = { text: display(fire_at), example: exampleFor(fire_at) }
    throw new WakefulError('instant.words', params, { field: 'at' })
  }
  const input: Record<string, unknown> = {}
  for (const name of TIME_NAMES) if (body[name] !== undefined) input[RENAMED[name] ?? name] = body[name]
  return Object.keys(input).length === 0 ? null : input
}

/** An example for the error. Bare digits are probably seconds or milliseconds since 1970, so it shows that instant. */
function exampleFor(input: string): string {
  const unix = /^\d{10}$/.test(input) ? Number(input) * 1000 : /^\d{13}$/.test(input) ? Number(input) : null
  return unix === null ? '2030-01-01T09:00:00Z' : `${new Date(unix).toISOString()}, not a count since 1970`
}

/** The time of a body that must have one. */
export function requiredWhen(body: WhenFields): When {
  if (kindsOf(body).length === 0) throw notOne([])
  return whenOf(body)!
}

function notOne(kinds: readonly string[]): WakefulError {
  const fields = KIND_NAMES.map(libraryField)
  return new WakefulError('when.kinds', { fields, others: kinds.map(libraryField) })
}

const OPTIONS = networkOptions('set')

/** The options of a request in the library's names. */
export function optionsOf(body: { readonly [W in keyof BodyFields<NetworkOption>]?: unknown }): SetOptions {
  const options: Record<string, unknown> = {}
  for (const each of OPTIONS) {
    const value = body[ALARM_FIELDS[each].wire]
    if (value !== undefined) options[each] = each === 'backoff' ? backoffOf(value) : value
  }
  return options
}

function backoffOf(value: unknown): SetOptions['backoff'] {
  const { base_ms, cap_ms } = value as BodyFields<'backoff'>['backoff']
  return defined({ baseMs: base_ms, capMs: cap_ms })
}

/** The body of a set as the library takes it. */
export function setOf(body: z.output<typeof setBody>): SetManyItem {
  return { when: requiredWhen(body), ...optionsOf(body) }
}

/** Whether an edit changes the instants, and not only options of the rule. */
export function movesInstants(body: z.output<typeof editBody>): boolean {
  // Intervals are counted from their start, so another start changes the next instant.
  return kindsOf(body).length > 0 || body.start !== undefined
}

/** The body of an edit as the library takes it. */
export function editOf(body: z.output<typeof editBody>): EditFields {
  const when = whenOf(body)
  return { ...optionsOf(body), ...(when !== null && { when }) }
}
