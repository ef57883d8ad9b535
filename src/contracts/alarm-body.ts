import { z } from 'zod'
import {
  ALARM_FIELDS,
  assertShared,
  type BodyFields,
  DEFAULT_LIMITS,
  defaultText,
  type EditOption,
  type Field,
  type NetworkOption,
  networkOptions,
  type SetOptions,
  SHARED_BACKOFF,
} from '../alarm/index.ts'
import { display, WakefulError } from '../error.ts'
import { libraryField, unknownWireField } from '../errors/index.ts'
import type { EditFields, SetManyItem } from '../library/index.ts'
import type { DstInput, ExcludeInput, MisfireInput, When } from '../time/index.ts'
import { choice, duration, judged, moment, name, targetSpec, text, timezone, whole } from './fields.ts'

/** The kinds of times. A request has one of them. */
const KINDS = {
  fire_at: moment(
    'An ISO 8601 instant: `2030-01-01T09:00:00Z`. Without an offset it is read in `timezone`.',
  ).optional(),
  delay: duration('A time from now.').optional(),
  when: moment('Plain language: `tomorrow at 9am`, `every weekday at 9:30`.').optional(),
  cron_expr: moment('Cron: five fields, six with seconds, `@daily`, `@every 5m`.').optional(),
  every: duration('An interval.').optional(),
  rrule: moment('RFC 5545: RRULE, with DTSTART, EXDATE, RDATE.').optional(),
}

const oneOf = (...values: readonly string[]) => ({ type: 'string', enum: values })
const object = (properties: Readonly<Record<string, unknown>>) => ({
  type: 'object',
  properties,
  additionalProperties: false,
})
const calendars = { anyOf: [{ type: 'string' }, { type: 'array', maxItems: 20, items: { type: 'string' } }] }

const RULE_OPTIONS = {
  timezone: timezone.optional(),
  start: moment('Recurring: the earliest instant.').optional(),
  end: moment('Recurring: the latest instant.').optional(),
  count: judged<number>({
    type: 'integer',
    minimum: 1,
    description: 'Recurring: total number of occurrences.',
  }).optional(),
  jitter: duration('Recurring: a random delay of each occurrence, up to this.').optional(),
  dst: judged<DstInput>({
    ...object({ gap: oneOf('shift', 'skip'), overlap: oneOf('first', 'last', 'both') }),
    description: 'What to do with a local time that a clock change skips (`gap`) or repeats (`overlap`).',
  }).optional(),
  misfire: judged<MisfireInput>({
    anyOf: [
      oneOf('once', 'skip', 'all'),
      {
        ...object({ all: object({ max: { type: 'integer', minimum: 1 }, within: { type: 'string' } }) }),
        required: ['all'],
      },
    ],
    description: 'What to do with occurrences that were missed.',
  }).optional(),
  exclude: judged<ExcludeInput>({
    anyOf: [
      { type: 'string' },
      { type: 'array', items: { type: 'string' } },
      object({
        calendars,
        weekend: {
          anyOf: [
            { type: 'boolean', const: true },
            { type: 'array', maxItems: 7, items: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
          ],
        },
        move: oneOf('next', 'previous'),
        offset: { type: 'integer', minimum: -250, maximum: 250 },
      }),
    ],
    description: 'Days off: names of calendars, `weekends`.',
  }).optional(),
}

type BodyShape<Name extends NetworkOption> = {
  [W in keyof BodyFields<Name>]: z.ZodOptional<z.ZodType<BodyFields<Name>[W]>>
}

const setShape = bodyShape('set') as BodyShape<NetworkOption>
const editShape = bodyShape('edit') as BodyShape<NetworkOption & EditOption>

/** Another value is refused by the library, which says what to do instead. */
const paused = judged<false>({
  type: 'boolean',
  enum: [false],
  description: 'Ends a pause of the alarm that has this key; otherwise it stays paused.',
})

/** The body of a set. */
export const setBody = z
  .strictObject({ ...KINDS, ...RULE_OPTIONS, ...setShape, paused: paused.optional() })
  .meta({
    id: 'NewAlarm',
    description:
      'One of `fire_at`, `delay`, `when`, `cron_expr`, `every`, `rrule`, and the options of the alarm. An option that is `null` counts as omitted.',
  })

/** The body of a set by key: the key is in the path. */
export const setByKeyBody = setBody.omit({ key: true }).meta({ id: 'AlarmByKey' })

/** The body of an edit. */
export const editBody = z.strictObject({ ...KINDS, ...RULE_OPTIONS, ...editShape }).meta({
  id: 'AlarmEdit',
  description:
    'Omitted fields stay as they are; an option that is `null` gets its default. A time reschedules the alarm and resets its failures.',
})

/** The body of a snooze. The library refuses what recurs. */
export const snoozeBody = z.strictObject({ ...KINDS, timezone: timezone.optional() }).meta({
  id: 'Snooze',
  description: 'One of `delay`, `fire_at`, `when`: a time that does not recur.',
})

/** The bodies of edits, with the names that only a new alarm has: they are refused as the library refuses them. */
export const editBodies = z.registry<{ readonly immutable: readonly string[] }>()

/** Marks a schema as the body of an edit. */
export function editing<S extends z.ZodObject>(schema: S): S {
  const immutable = Object.keys(setShape).filter((name) => !Object.hasOwn(schema.shape, name))
  editBodies.add(schema, { immutable })
  return schema
}

editing(editBody)

/** The body of a preview. */
export const previewBody = z
  .strictObject({
    ...KINDS,
    ...RULE_OPTIONS,
    from: moment(
      'Show instants from here on, as if it were that time: ISO 8601, or `next monday`.',
    ).optional(),
    instants: whole(
      1,
      1_000,
      'Number of instants. Default: 5. A rule whose instants are centuries apart has fewer, and a note says so.',
    ).optional(),
  })
  .meta({ id: 'PreviewRequest' })

type WhenFields = Partial<z.output<typeof setBody>>

function bodyShape(call: 'set' | 'edit'): Record<string, z.ZodType> {
  const fields = networkOptions(call).map((each): Field => ALARM_FIELDS[each])
  return Object.fromEntries(fields.map((field) => [field.wire, requestSchema(field).optional()]))
}

function requestSchema(field: Field): z.ZodType {
  const standard = defaultText(field)
  const description = standard === null ? field.doc : `${field.doc} Default: ${standard}.`
  switch (field.type) {
    case 'text': {
      const max = DEFAULT_LIMITS[field.limit ?? 'nameBytesMax']
      return field.nonEmpty ? name(description, max) : text(description, max)
    }
    case 'choice':
      return choice(field.values, description)
    case 'integer':
      return judged({
        type: 'integer',
        minimum: field.min!,
        maximum: field.networkMax ?? field.max!,
        description,
      })
    case 'duration':
      return duration(description)
    case 'target':
      return field.wire === 'target' ? targetSpec : targetSpec.describe(description)
    case 'backoff': {
      const { baseMs, capMs } = SHARED_BACKOFF
      return judged({
        ...object({ base_ms: { type: 'integer', ...baseMs }, cap_ms: { type: 'integer', ...capMs } }),
        description: `${description} Neither may be below ${baseMs.minimum} ms.`,
      })
    }
    default:
      return judged({ description })
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

function kindsOf(body: WhenFields): readonly string[] {
  return KIND_NAMES.filter((kind) => body[kind] !== undefined)
}

/** The time of a body as the library takes it; null if the body has none. */
function whenOf(body: WhenFields): When | null {
  const kinds = kindsOf(body)
  if (kinds.length > 1) throw notOne(kinds)
  const { fire_at } = body
  if (typeof fire_at === 'string' && !ISO_DATE.test(fire_at)) {
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
  return unix === null ? '2030-01-01T09:00:00Z' : new Date(unix).toISOString()
}

/** The time of a body that must have one, of these kinds. */
export function requiredWhen(body: WhenFields, kinds: readonly string[] = KIND_NAMES): When {
  if (kindsOf(body).length === 0) throw notOne([], kinds)
  return whenOf(body)!
}

/** The kinds of times that name one instant. */
export const SINGLE_KINDS: readonly string[] = ['fire_at', 'delay', 'when']

function notOne(kinds: readonly string[], known: readonly string[] = KIND_NAMES): WakefulError {
  const fields = known.map(libraryField)
  return new WakefulError('when.kinds', { fields, others: kinds.map(libraryField) })
}

const OPTIONS = networkOptions('set')
const BACKOFF_NAMES: Readonly<Record<string, string>> = { base_ms: 'baseMs', cap_ms: 'capMs' }

/** The options of a request in the library's names; the library checks their values. */
function optionsOf(body: { readonly [W in keyof BodyFields<NetworkOption>]?: unknown }): SetOptions {
  const options: Record<string, unknown> = {}
  for (const each of OPTIONS) {
    const value = body[ALARM_FIELDS[each].wire]
    if (value !== undefined) options[each] = each === 'backoff' ? backoffOf(value) : value
  }
  assertShared(options)
  return options
}

function backoffOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const members = Object.entries(value).map(([name, each]) => {
    if (Object.hasOwn(BACKOFF_NAMES, name)) return [BACKOFF_NAMES[name]!, each]
    throw unknownWireField(name, Object.keys(BACKOFF_NAMES), 'backoff')
  })
  return Object.fromEntries(members)
}

/** The body of a set as the library takes it. */
export function setOf(body: z.output<typeof setBody>): SetManyItem {
  const { paused } = body
  return { when: requiredWhen(body), ...optionsOf(body), ...(paused !== undefined && { paused }) }
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
