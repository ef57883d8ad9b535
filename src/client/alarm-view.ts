import type { PlainFields } from '../alarm/fields/index.ts'
import { ALARM_FIELDS, type Field, impliedPool, PLAIN_NAMES } from '../alarm/fields/table.ts'
import type { AlarmView, Scope } from '../alarm/index.ts'
import type { EventView } from '../library/index.ts'
import { camelNames, ruleOf } from './rule.ts'
import type { Wire } from './transport.ts'

/** An alarm on the wire. */
export type AlarmWire = Wire<'set'>

/** The alarm as the library returns it, with the tenant and owner as far as the client knows them. */
export function alarmView(wire: AlarmWire, { tenant, owner }: Scope): AlarmView {
  const pool = wire.pool ?? impliedPool(wire.target)
  return {
    ...plainFields(wire),
    tenant,
    owner,
    rule: ruleOf(wire),
    target: wire.target,
    targetKind: pool === 'wakeful' ? builtInKind(wire.target) : 'handler',
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

function builtInKind(target: string): string {
  return /^(?:event|inbox|default)$/.test(target) ? target : 'webhook'
}

/** An event on the wire. */
export type EventWire = Wire<'append'>

/** The event as the library returns it. */
export function eventView({ data, at, ...rest }: EventWire): EventView {
  const parsed = { at: new Date(at), data: JSON.parse(data.text), dataJson: data.text }
  return { ...camelNames(rest), ...parsed } as EventView
}
