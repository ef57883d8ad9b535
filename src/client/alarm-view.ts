import { PLAIN_NAMES } from '../alarm/fields/field-lists.ts'
import type { AlarmJson, PlainFields } from '../alarm/fields/index.ts'
import { ALARM_FIELDS, type Field } from '../alarm/fields/table.ts'
import type { AlarmView } from '../alarm/index.ts'
import type { RawJson } from '../json/index.ts'
import type { EventView } from '../library/index.ts'
import { ruleOf, type WireWhen } from './rule.ts'

/** An alarm on the wire, with its payload as text. */
export type AlarmWire = Omit<AlarmJson, 'payload' | 'when'> & {
  readonly payload?: RawJson
  readonly when?: WireWhen
  readonly deduped?: true
}

/** The tenant and owner of alarms, as far as the client knows them. */
export interface AlarmScope {
  readonly tenant: string
  readonly owner: string
}

/** The alarm as the library returns it. */
export function alarmView(wire: AlarmWire, { tenant, owner }: AlarmScope): AlarmView {
  const pool = wire.pool ?? impliedPool(wire.target)
  return {
    ...plainFields(wire),
    tenant,
    owner,
    rule: ruleOf(wire),
    target: wire.target,
    targetKind: pool === BUILT_IN_POOL ? builtInKind(wire.target) : 'handler',
    pool,
    payload: wire.payload === undefined ? undefined : JSON.parse(wire.payload.text),
    payloadJson: wire.payload?.text ?? null,
    // The server does not return it.
    traceparent: null,
    notes: wire.notes ?? [],
  }
}

/** The fields with the same value in JSON, or an instant. Omitted fields have their default. */
function plainFields(wire: AlarmWire): PlainFields {
  const fields = PLAIN_NAMES.map((name) => {
    const field: Field = ALARM_FIELDS[name]
    const value = wire[field.wire as keyof AlarmWire] ?? field.omits?.[0]
    return [name, field.type === 'instant' && typeof value === 'string' ? new Date(value) : value]
  })
  return Object.fromEntries(fields)
}

const BUILT_IN_POOL = 'wakeful'
const BUILT_IN = /^(?:event|inbox|default)$/

/** The default pool of a target. The wire has `pool` only if it is another. */
function impliedPool(target: string): string {
  return BUILT_IN.test(target) || /^https?:/.test(target) ? BUILT_IN_POOL : 'app'
}

function builtInKind(target: string): string {
  return BUILT_IN.test(target) ? target : 'webhook'
}

/** An event on the wire, with its data as text. */
export interface EventWire {
  readonly id: string
  readonly cursor: string
  readonly tenant: string
  readonly type: string
  readonly origin: string
  readonly alarm_id: string | null
  readonly occurrence_id: string | null
  readonly key: string | null
  readonly subject: string | null
  readonly correlation_id: string | null
  readonly at: string
  readonly data: RawJson
}

/** The event as the library returns it. */
export function eventView(wire: EventWire): EventView {
  const { id, cursor, tenant, type, origin, key, subject } = wire
  return {
    id,
    cursor,
    tenant,
    type,
    origin,
    alarmId: wire.alarm_id,
    occurrenceId: wire.occurrence_id,
    key,
    subject,
    correlationId: wire.correlation_id,
    at: new Date(wire.at),
    data: JSON.parse(wire.data.text) as Record<string, unknown>,
    dataJson: wire.data.text,
  }
}
