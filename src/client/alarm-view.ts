import type { AlarmView } from '../alarm/index.ts'
import type { RawJson } from '../json/index.ts'
import type { EventView } from '../library/index.ts'
import type { Rule } from '../time/index.ts'
import { ruleOf, type WireWhen } from './rule.ts'

/** An alarm as it comes over the wire, its payload as the text it is. */
export interface AlarmWire {
  readonly id: string
  readonly label: string
  readonly kind: Rule['kind']
  readonly status: AlarmView['status']
  readonly timezone: string
  readonly wake_message: string
  readonly correlation_id: string
  readonly target: string
  readonly ack: AlarmView['ack']
  readonly max_failures: number
  readonly failure_count: number
  readonly created_at: string
  readonly created_via: string
  readonly updated_at: string
  readonly cron_expr?: string
  readonly rrule?: string
  readonly every?: string
  readonly when?: WireWhen
  readonly payload?: RawJson
  readonly pool?: string
  readonly overlap?: AlarmView['overlap']
  readonly priority?: number
  readonly next_fire_at?: string
  readonly fire_at?: string
  readonly conversation_id?: string
  readonly key?: string
  readonly idempotency_key?: string
  readonly subject?: string
  readonly attempts?: number
  readonly last_error?: string
  readonly result?: string
  readonly started_at?: string
  readonly completed_at?: string
  readonly duration_ms?: number
  readonly last_fired_at?: string
  readonly created_by?: string
  readonly notes?: readonly string[]
  readonly deduped?: true
}

/** Whose alarms they are, as far as the client was told. */
export interface Whose {
  readonly tenant: string
  readonly owner: string
}

/** The alarm as the library shows it. */
export function alarmView(wire: AlarmWire, { tenant, owner }: Whose): AlarmView {
  const pool = wire.pool ?? impliedPool(wire.target)
  return {
    id: wire.id,
    tenant,
    owner,
    label: wire.label,
    kind: wire.kind,
    status: wire.status,
    rule: ruleOf(wire),
    timezone: wire.timezone,
    nextFireAt: dateOf(wire.next_fire_at),
    fireAt: dateOf(wire.fire_at),
    target: wire.target,
    targetKind: pool === BUILT_IN_POOL ? builtInKind(wire.target) : 'handler',
    pool,
    payload: wire.payload === undefined ? undefined : JSON.parse(wire.payload.text),
    payloadJson: wire.payload?.text ?? null,
    message: wire.wake_message,
    conversationId: wire.conversation_id ?? '',
    key: wire.key ?? null,
    idempotencyKey: wire.idempotency_key ?? null,
    subject: wire.subject ?? null,
    correlationId: wire.correlation_id,
    // Not on the wire: it is for whoever follows the trace.
    traceparent: null,
    ack: wire.ack,
    overlap: wire.overlap ?? 'skip',
    priority: wire.priority ?? 0,
    maxFailures: wire.max_failures,
    failureCount: wire.failure_count,
    attempts: wire.attempts ?? 0,
    lastError: wire.last_error ?? null,
    result: wire.result ?? null,
    startedAt: dateOf(wire.started_at),
    completedAt: dateOf(wire.completed_at),
    durationMs: wire.duration_ms ?? null,
    lastFiredAt: dateOf(wire.last_fired_at),
    createdBy: wire.created_by ?? null,
    createdVia: wire.created_via,
    createdAt: new Date(wire.created_at),
    updatedAt: new Date(wire.updated_at),
    notes: wire.notes ?? [],
  }
}

const BUILT_IN_POOL = 'wakeful'
const BUILT_IN = /^(?:event|inbox|default)$/

/** The pool of a target whose name says it: the wire names no other than the unexpected one. */
function impliedPool(target: string): string {
  return BUILT_IN.test(target) || /^https?:/.test(target) ? BUILT_IN_POOL : 'app'
}

function builtInKind(target: string): string {
  return BUILT_IN.test(target) ? target : 'webhook'
}

/** An event as it comes over the wire, its data as the text it is. */
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

/** The event as the library shows it. */
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

function dateOf(text: string | undefined): Date | null {
  return text === undefined ? null : new Date(text)
}
