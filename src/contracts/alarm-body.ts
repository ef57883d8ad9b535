import { z } from 'zod'
import { display, WakefulError } from '../error.ts'
import { libraryField } from '../errors/index.ts'
import type { EditFields, SetManyItem } from '../library/index.ts'
import type { When, WhenObject } from '../time/index.ts'
import { editShape, optionsOf, setShape } from './alarm-fields.ts'
import { duration, givenInstant, plain, timezone } from './fields.ts'

const moment = (description: string) => plain().min(1).max(200).meta({ description })

/** The ways to say when, one of which a request has. */
const KINDS = {
  fire_at: givenInstant(
    'An instant, as ISO 8601: `2030-01-01T09:00:00Z`; without an offset it is read in `timezone`.',
  ).optional(),
  delay: duration('A time from now.').optional(),
  when: moment('Plain language: `tomorrow at 9am`, `every weekday at 9:30`.').optional(),
  cron_expr: moment('Cron: five fields, six with seconds, `@daily`, `@every 5m`.').optional(),
  rrule: plain()
    .min(1)
    .max(10_000)
    .meta({ description: 'RFC 5545: RRULE, with DTSTART, EXDATE, RDATE.' })
    .optional(),
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

/** What can be said of a rule beside its text. */
const RULE_OPTIONS = {
  timezone: timezone.optional(),
  start: givenInstant('Recurring: no instant before.').optional(),
  end: givenInstant('Recurring: no instant after.').optional(),
  count: z.int().min(1).meta({ description: 'Recurring: how many occurrences in all.' }).optional(),
  jitter: duration('Recurring: each wakes up to this much later.').optional(),
  dst: z
    .strictObject({
      gap: z.enum(['shift', 'skip']).optional(),
      overlap: z.enum(['first', 'last', 'both']).optional(),
    })
    .meta({ description: 'What a clock change does to a wall time that does not exist, or exists twice.' })
    .optional(),
  misfire: z
    .union([
      z.enum(['once', 'skip', 'all']),
      z.strictObject({
        all: z.strictObject({ max: z.int().optional(), within: plain().max(100).optional() }),
      }),
    ])
    .meta({ description: 'What becomes of instants that passed while nothing could fire.' })
    .optional(),
  exclude: exclude.meta({ description: 'Days off: names of calendars, `weekends`.' }).optional(),
}

/** The body of a set. */
export const setBody = z.strictObject({ ...KINDS, ...RULE_OPTIONS, ...setShape }).meta({
  id: 'NewAlarm',
  description: 'One of `fire_at`, `delay`, `when`, `cron_expr`, `rrule`, `every`, and what goes with it.',
})

/** The body of a set by key: the key is in the path. */
export const setByKeyBody = setBody.omit({ key: true }).meta({ id: 'AlarmByKey' })

/** The body of an edit. */
export const editBody = z.strictObject({ ...KINDS, ...RULE_OPTIONS, ...editShape }).meta({
  id: 'AlarmEdit',
  description: 'What is left out stays. A time moves the alarm, which then starts afresh.',
})

/** The body of a preview. */
export const previewBody = z
  .strictObject({
    ...KINDS,
    ...RULE_OPTIONS,
    from: givenInstant('The first instant not before: ISO 8601.').optional(),
    instants: z
      .int()
      .min(1)
      .max(1000)
      .meta({
        description:
          'How many instants (5). A rule whose instants are centuries apart shows fewer, and says so in a note.',
      })
      .optional(),
  })
  .meta({ id: 'PreviewRequest' })

type WhenFields = Partial<z.output<typeof setBody>>

/** What of a body is kept as the text it is (promise: verbatim): a target's own `payload` or `data` is no such. */
export const BODY_VERBATIM = { payload: true, data: true, items: { payload: true } } as const

/** The same of a message over the WebSocket. */
export const WS_VERBATIM = { args: BODY_VERBATIM }

/** The same of a message of MCP. */
export const MCP_VERBATIM = { params: { arguments: BODY_VERBATIM } }

const ISO_DATE = /^\s*(?:\d{4}-\d\d-\d\d|\d{8}[Tt])/

/** What a body says of when, in the library's words; null where it says nothing. */
function whenOf(body: WhenFields): When | null {
  const { fire_at, delay, when, cron_expr, rrule, every } = body
  const given = Object.keys(KINDS).filter((kind) => body[kind as keyof WhenFields] !== undefined)
  if (given.length > 1) throw notOne(given)
  if (fire_at !== undefined && !ISO_DATE.test(fire_at))
    throw new WakefulError(
      'instant.words',
      { text: display(fire_at), example: exampleFor(fire_at) },
      { field: 'at' },
    )
  const at = fire_at ?? when
  const options = ruleOptions(body)
  const kind = { at, delay, cron: cron_expr, rrule, every }
  const found = Object.fromEntries(Object.entries(kind).filter(([, value]) => value !== undefined))
  return given.length === 0 && Object.keys(options).length === 0 ? null : { ...found, ...options }
}

/** Digits alone are most likely seconds or milliseconds since 1970: the same as an instant. */
function exampleFor(given: string): string {
  const unix = /^\d{10}$/.test(given) ? Number(given) * 1000 : /^\d{13}$/.test(given) ? Number(given) : null
  return unix === null ? '2030-01-01T09:00:00Z' : `${new Date(unix).toISOString()}, not a count since 1970`
}

/** The same, refused where nothing is said. */
export function requiredWhen(body: WhenFields): When {
  if (Object.keys(KINDS).every((kind) => body[kind as keyof WhenFields] === undefined)) throw notOne([])
  return whenOf(body)!
}

function notOne(given: readonly string[]): WakefulError {
  return new WakefulError('when.kinds', {
    fields: Object.keys(KINDS).map(libraryField),
    others: given.map(libraryField),
  })
}

function ruleOptions(body: WhenFields): Omit<WhenObject, 'at'> {
  const options: Record<string, unknown> = {}
  for (const option of Object.keys(RULE_OPTIONS) as (keyof typeof RULE_OPTIONS)[])
    if (body[option] !== undefined) options[option] = body[option]
  return options
}

/** A set as the library takes it. */
export function setOf(body: z.output<typeof setBody>): SetManyItem {
  return { when: requiredWhen(body), ...optionsOf(body) }
}

/** Where an edit moves the alarm; null where it leaves its instants, or only changes what goes with its rule. */
export function movedTo(body: z.output<typeof editBody>): When | null {
  const isMoved = Object.keys(KINDS).some((kind) => body[kind as keyof typeof KINDS] !== undefined)
  if (isMoved) return whenOf(body)
  // Intervals are counted from their start: another one is another next instant.
  return body.start === undefined ? null : { at: body.start }
}

/** An edit as the library takes it. */
export function editOf(body: z.output<typeof editBody>): EditFields {
  const when = whenOf(body)
  return { ...optionsOf(body), ...(when !== null && { when }) }
}
