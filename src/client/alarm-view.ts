import type { PlainFields } from '../alarm/fields/index.ts'
import { ALARM_FIELDS, type Field, impliedPool, PLAIN_NAMES } from '../alarm/fields/table.ts'
import type { AlarmView, Scope } from '../alarm/index.ts'
import type { EventView } from '../library/index.ts'
import { parseDuration, parseStep } from '../time/durations/index.ts'
import type { DstPolicy, Exclusion, Misfire, Rule } from '../time/index.ts'
import type { Wire } from './transport.ts'

/** An alarm on the wire. */
export type AlarmWire = Wire<'set'>

/** The alarm as the library returns it. Only reads across owners name the tenant and owner: others have the client's. */
export function alarmView(wire: AlarmWire, scope: Scope): AlarmView {
  const { tenant = scope.tenant, owner = scope.owner } = wire
  const pool = wire.pool ?? impliedPool(wire.target)
  return {
    ...plainFields(wire),
    tenant,
    owner,
    rule: ruleOf(wire),
    target: wire.target,
    targetKind: pool === 'wakeful' ? builtInKind(wire.target) : 'handler',
    pool,
    backoff: { baseMs: wire.backoff.base_ms, capMs: wire.backoff.cap_ms },
    onFailure: wire.on_failure ?? null,
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

/** The options of a rule on the wire. */
interface WireWhen {
  readonly start?: string
  readonly end?: string
  readonly count?: number
  readonly jitter?: string
  readonly misfire?: 'once' | 'skip' | { readonly all: { readonly max: number; readonly within: string } }
  readonly dst?: DstPolicy
  readonly exclude?: Omit<Exclusion, 'weekend'> & { readonly weekend?: readonly string[] }
}

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']

/**
 * The rule of an alarm on the wire. The wire does not have the anchor of intervals, so this uses the start, or when it was
 * set or rescheduled, which is wrong only after a reschedule of options alone.
 */
function ruleOf(wire: Wire<'set'>): Rule {
  const { kind, timezone, cron_expr: cron, rrule, every } = wire
  const when: WireWhen = wire.when ?? {}
  const misfire = when.misfire && misfireOf(when.misfire)
  const rule =
    kind === 'once'
      ? { kind, at: Date.parse(wire.fire_at!), timezone, misfire }
      : {
          ...{ kind, cron, rrule, every, ...(every !== undefined && parseStep(every)) },
          anchor: Date.parse(when.start ?? wire.registered_at),
          timezone,
          start: when.start && Date.parse(when.start),
          end: when.end && Date.parse(when.end),
          count: when.count,
          jitterMs: when.jitter && parseDuration(when.jitter),
          misfire,
          exclude: when.exclude && exclusionOf(when.exclude),
          dst: when.dst,
        }
  return Object.fromEntries(
    Object.entries(rule).filter(([, value]) => value !== undefined),
  ) as unknown as Rule
}

function misfireOf(misfire: NonNullable<WireWhen['misfire']>): Misfire {
  if (typeof misfire === 'string') return misfire
  return { all: { max: misfire.all.max, withinMs: parseDuration(misfire.all.within) } }
}

function exclusionOf({ weekend, ...rest }: NonNullable<WireWhen['exclude']>): Exclusion {
  return { ...rest, ...(weekend !== undefined && { weekend: weekend.map((day) => DAYS.indexOf(day) + 1) }) }
}

const INSTANTS: ReadonlySet<string> = new Set(['at', 'anchor', 'start', 'end'])

/** The rule of a preview, which is complete. */
export function ruleOfPreview(wire: Readonly<Record<string, unknown>>): Rule {
  return camelNames(wire, (name, value) =>
    INSTANTS.has(name) ? Date.parse(value as string) : value,
  ) as unknown as Rule
}

/** An object with its names in camelCase, at every level. */
export function camelNames(
  fields: Readonly<Record<string, unknown>>,
  read: (name: string, value: unknown) => unknown = (_, value) => value,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([wireName, value]) => {
      const name = wireName.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
      return [name, isObject ? camelNames(value as Record<string, unknown>) : read(name, value)]
    }),
  )
}
