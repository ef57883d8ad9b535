import { z } from 'zod'
import {
  ALARM_FIELDS,
  type AlarmJson,
  FILTER_NAMES,
  type Field,
  WIRE_NAMES,
  type WireFilters,
} from '../alarm/index.ts'
import { instant, text } from './fields.ts'
import { named, ok, pageOf } from './operation.ts'

type WireShape = {
  [W in keyof Required<AlarmJson>]: undefined extends AlarmJson[W]
    ? z.ZodOptional<z.ZodType<Exclude<AlarmJson[W], undefined>>>
    : z.ZodType<AlarmJson[W]>
}

/** The status of an alarm. */
export const status = z.enum(ALARM_FIELDS.status.values).meta({ id: 'Status' })

const wireShape = Object.fromEntries(
  WIRE_NAMES.map((each) => {
    const field: Field = ALARM_FIELDS[each]
    const schema = answerSchema(field)
    return [field.wire, field.omits === undefined ? schema : schema.optional()]
  }),
) as unknown as WireShape

/** The filters of a list that are fields. */
export const filterShape = Object.fromEntries(
  FILTER_NAMES.map((each) => [ALARM_FIELDS[each].wire, text(ALARM_FIELDS[each].filter).optional()]),
) as unknown as { [W in keyof Required<WireFilters>]: z.ZodOptional<z.ZodType<string>> }

/** An alarm in a response: the fields of Chronos's View, with its omissions, then those of Wakeful. */
export const alarmWire = named('Alarm', {
  ...wireShape,
  tenant: z.string().optional().describe('Its tenant, in a read across owners or tenants.'),
  owner: z.string().optional().describe('Its owner, in a read across owners or tenants.'),
})

/** An alarm that was set. */
export const setWire = alarmWire
  .extend({
    deduped: z
      .literal(true)
      .optional()
      .describe('The idempotency key was known: this is the first alarm, unchanged.'),
    unchanged: z
      .literal(true)
      .optional()
      .describe('The alarm with this key is defined so already: nothing changed.'),
  })
  .meta({ id: 'SetAlarm' })

const alarmPage = pageOf(alarmWire).meta({ id: 'AlarmPage' })

/** The response of a call that lists alarms. */
export const pageAnswer = ok(
  'A page of them. It ends at the limit, or earlier with about 4 MiB of content, or when much was looked at for few that fit: only a `next_cursor` of null says that there are no more. A page shows one moment (on SQLite a large one is read in pieces, each of one moment); an alarm that is moved in time between two pages by due time may come twice or not at all.',
  alarmPage,
)

function answerSchema(field: Field): z.ZodType {
  const { doc: description } = field
  switch (field.type) {
    case 'choice': {
      if (field.wire === 'status') return status
      const values = field.values.filter((value) => field.omits?.includes(value) !== true)
      return z.enum(values).describe(description)
    }
    case 'integer':
      return z.int().describe(description)
    case 'instant':
      return instant(description)
    case 'payload':
      return z.unknown().describe(description)
    case 'backoff':
      return z.object({ base_ms: z.int(), cap_ms: z.int() }).describe(description)
    case 'notes':
      return z.array(z.string()).describe(description)
    case 'rule':
      return field.wire === 'when'
        ? z.record(z.string(), z.unknown()).describe(description)
        : z.string().describe(description)
    default:
      return z.string().describe(description)
  }
}
