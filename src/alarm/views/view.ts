import type { Rule } from '../../time/index.ts'
import { type Alarm, NO_OUTCOME, type Snapshot, type Status, shown, stateOf } from '../model/index.ts'

/** An alarm as users see it. */
export interface AlarmView {
  readonly id: string
  readonly tenant: string
  readonly owner: string
  readonly label: string
  readonly kind: Rule['kind']
  readonly status: Status
  readonly rule: Rule
  readonly timezone: string
  /** When it fires next (or tries again); only while it is active. */
  readonly nextFireAt: Date | null
  /** The instant that was asked for, of a once alarm. */
  readonly fireAt: Date | null
  readonly target: string
  readonly targetKind: string
  readonly pool: string
  readonly payload: unknown
  /** The payload as JSON text, byte for byte: parsing loses digits beyond 2^53. */
  readonly payloadJson: string | null
  readonly message: string
  readonly conversationId: string
  readonly key: string | null
  readonly idempotencyKey: string | null
  readonly subject: string | null
  readonly correlationId: string
  readonly traceparent: string | null
  readonly ack: Alarm['ack']
  readonly overlap: Alarm['overlap']
  readonly priority: number
  readonly maxFailures: number
  readonly failureCount: number
  readonly attempts: number
  readonly lastError: string | null
  readonly result: string | null
  readonly startedAt: Date | null
  readonly completedAt: Date | null
  readonly durationMs: number | null
  readonly lastFiredAt: Date | null
  readonly createdBy: string | null
  readonly createdVia: string
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly notes: readonly string[]
}

/** The alarm as users see it, from what the store holds. */
export function viewOf(snapshot: Pick<Snapshot, 'alarm' | 'timers' | 'outcome'>): AlarmView {
  const { alarm, timers } = snapshot
  const outcome = snapshot.outcome ?? NO_OUTCOME
  const status = shown(stateOf(alarm, timers, snapshot.outcome))
  return {
    id: alarm.id,
    tenant: alarm.tenant,
    owner: alarm.owner,
    label: alarm.label,
    kind: alarm.rule.kind,
    status,
    rule: alarm.rule,
    timezone: alarm.rule.timezone,
    nextFireAt: status === 'active' ? nextFireAt(snapshot) : null,
    fireAt: alarm.rule.kind === 'once' ? new Date(alarm.rule.at) : null,
    target: alarm.target.name,
    targetKind: alarm.target.kind,
    pool: alarm.target.pool,
    payload: alarm.payload === null ? undefined : readPayload(alarm.payload),
    payloadJson: alarm.payload,
    message: alarm.message,
    conversationId: alarm.conversationId,
    key: alarm.key,
    idempotencyKey: alarm.idempotencyKey,
    subject: alarm.subject,
    correlationId: alarm.correlationId,
    traceparent: alarm.traceparent,
    ack: alarm.ack,
    overlap: alarm.overlap,
    priority: alarm.priority,
    maxFailures: alarm.maxFailures,
    failureCount: outcome.failureCount,
    attempts: outcome.attempts,
    lastError: outcome.lastError,
    result: outcome.result,
    startedAt: dateOf(outcome.startedAt),
    completedAt: dateOf(outcome.completedAt),
    durationMs: outcome.durationMs,
    lastFiredAt: dateOf(outcome.lastFiredAt),
    createdBy: alarm.createdBy,
    createdVia: alarm.createdVia,
    createdAt: new Date(alarm.createdAt),
    updatedAt: new Date(alarm.updatedAt),
    notes: alarm.notes,
  }
}

/** The payload's value; one that was damaged in the database is shown as the text it has become. */
export function readPayload(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function nextFireAt(snapshot: Pick<Snapshot, 'alarm' | 'timers'>): Date | null {
  let earliest: number | null = null
  for (const timer of snapshot.timers) {
    if (timer.kind === 'report' || timer.generation !== snapshot.alarm.generation) continue
    // One that waits for its handler, or for an operator, is due since its instant, however often it is looked at.
    const isLate = timer.waiting === 'handler' || timer.waiting === 'operator_pause'
    const at = isLate ? timer.scheduledFor : timer.wakeAt
    if (at !== null && (earliest === null || at < earliest)) earliest = at
  }
  return dateOf(earliest)
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms)
}
