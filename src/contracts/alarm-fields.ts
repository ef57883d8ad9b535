import { z } from 'zod'
import {
  ALARM_FIELDS,
  type AlarmJson,
  type BodyFields,
  DEFAULT_LIMITS,
  defaultText,
  type EditOption,
  FILTER_NAMES,
  type Field,
  type NetworkOption,
  networkOptions,
  type SetOptions,
  WIRE_NAMES,
  type WireFilters,
} from '../alarm/index.ts'
import { duration, instant, name, targetSpec, text } from './fields.ts'

/** Retries of a caller must not keep a shared server busy. The library, which runs in its user's process, allows 0. */
const BACKOFF_MS_MIN = 100

type BodyShape<Name extends NetworkOption> = {
  [W in keyof BodyFields<Name>]: z.ZodOptional<z.ZodType<BodyFields<Name>[W]>>
}

type WireShape = {
  [W in keyof Required<AlarmJson>]: undefined extends AlarmJson[W]
    ? z.ZodOptional<z.ZodType<Exclude<AlarmJson[W], undefined>>>
    : z.ZodType<AlarmJson[W]>
}

/** The words of an alarm's status. */
export const status = z.enum(ALARM_FIELDS.status.values).meta({ id: 'Status' })

/** The fields of a set, from the table of an alarm's fields. */
export const setShape = bodyShape('set') as BodyShape<NetworkOption>

/** The fields of an edit. */
export const editShape = bodyShape('edit') as BodyShape<NetworkOption & EditOption>

/** The fields of an alarm in an answer. */
export const wireShape = Object.fromEntries(
  WIRE_NAMES.map((each) => {
    const field: Field = ALARM_FIELDS[each]
    const schema = answered(field)
    return [field.wire, field.omits === undefined ? schema : schema.optional()]
  }),
) as unknown as WireShape

/** The filters of a list that are fields. */
export const filterShape = Object.fromEntries(
  FILTER_NAMES.map((each) => [ALARM_FIELDS[each].wire, text(ALARM_FIELDS[each].filter).optional()]),
) as unknown as { [W in keyof Required<WireFilters>]: z.ZodOptional<z.ZodString> }

function bodyShape(call: 'set' | 'edit'): Record<string, z.ZodType> {
  const fields = networkOptions(call).map((each): Field => ALARM_FIELDS[each])
  return Object.fromEntries(fields.map((field) => [field.wire, taken(field).optional()]))
}

/** What a request may say. */
function taken(field: Field): z.ZodType {
  const standard = defaultText(field)
  const description = standard === null ? field.doc : `${field.doc} Default: ${standard}.`
  switch (field.type) {
    case 'text': {
      const max = DEFAULT_LIMITS[field.limit ?? 'nameBytesMax']
      return field.nonEmpty ? name(description, max) : text(description, max)
    }
    case 'choice':
      return z.enum(field.values).meta({ description })
    case 'integer':
      return z
        .int()
        .min(field.min!)
        .max(field.networkMax ?? field.max!)
        .meta({ description })
    case 'duration':
      return duration(description)
    case 'target':
      return field.wire === 'target' ? targetSpec : targetSpec.meta({ description })
    case 'backoff':
      return z
        .strictObject({
          base_ms: z.int().min(BACKOFF_MS_MIN).optional(),
          cap_ms: z.int().min(BACKOFF_MS_MIN).optional(),
        })
        .meta({ description: `${description} Neither may be below ${BACKOFF_MS_MIN} ms.` })
    default:
      return z.unknown().meta({ description })
  }
}

/** What an answer says. */
function answered(field: Field): z.ZodType {
  const { doc: description } = field
  switch (field.type) {
    case 'choice': {
      if (field.wire === 'status') return status
      const values = field.values.filter((value) => field.omits?.includes(value) !== true)
      return z.enum(values).meta({ description })
    }
    case 'integer':
      return z.int().meta({ description })
    case 'instant':
      return instant(description)
    case 'payload':
      return z.unknown().meta({ description })
    case 'notes':
      return z.array(z.string()).meta({ description })
    case 'rule':
      return field.wire === 'when'
        ? z.record(z.string(), z.unknown()).meta({ description })
        : z.string().meta({ description })
    default:
      return z.string().meta({ description })
  }
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
  return { ...(base_ms !== undefined && { baseMs: base_ms }), ...(cap_ms !== undefined && { capMs: cap_ms }) }
}
