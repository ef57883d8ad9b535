import type { Alarm, Outcome, Target, Timer } from '../../alarm/index.ts'
import { isRule, type Rule } from '../../time/index.ts'
import type { Bindable } from './session.ts'

/** An alarm with the row it is kept in. Only this store makes and reads `seq`; copies made by edits carry it along. */
export type StoredAlarm = Alarm & { readonly seq: number }

/** A row that cannot be read: it is set aside with this reason, and the rest go on. */
export class CorruptRow extends Error {
  override readonly name = 'CorruptRow'
}

export interface AlarmRow {
  seq: number
  id: string
  tenant: string
  owner: string
  generation: number
  kind: string
  timezone: string
  fire_at: number | null
  rule: string | null
  label: string
  target_kind: string
  target: string
  target_config: string | null
  pool: string
  payload: string | null
  message: string
  conversation_id: string
  key: string | null
  idempotency_key: string | null
  subject: string | null
  correlation_id: string
  max_failures: number
  backoff_base_ms: number
  backoff_cap_ms: number
  timeout_ms: number | null
  ack: Alarm['ack']
  completion_timeout_ms: number
  overlap: Alarm['overlap']
  priority: number
  on_failure: string | null
  created_by: string | null
  created_via: string
  created_at: number
  updated_at: number
  paused_at: number | null
  cancelled_at: number | null
  notes: string | null
}

export interface TimerRow {
  id: number
  alarm: number
  shard: number
  kind: Timer['kind']
  wake_at: number | null
  scheduled_for: number
  tick: number
  generation: number
  attempt: number
  started_at: number | null
  waiting: Timer['waiting']
  version: number
  edited: number
  report: string | null
}

export interface OutcomeRow {
  status: Outcome['status']
  started_at: number | null
  last_fired_at: number | null
  completed_at: number | null
  duration_ms: number | null
  result: string | null
  last_error: string | null
  failure_count: number
  attempts: number
}

/** The alarm of a row; throws CorruptRow where its JSON or its rule makes no sense. */
export function alarmOf(row: AlarmRow): StoredAlarm {
  return {
    seq: row.seq,
    id: row.id,
    tenant: row.tenant,
    owner: row.owner,
    generation: row.generation,
    rule: ruleOf(row),
    label: row.label,
    target: targetOf(row),
    payload: row.payload,
    message: row.message,
    conversationId: row.conversation_id,
    key: row.key,
    idempotencyKey: row.idempotency_key,
    subject: row.subject,
    correlationId: row.correlation_id,
    maxFailures: row.max_failures,
    backoff: { baseMs: row.backoff_base_ms, capMs: row.backoff_cap_ms },
    timeoutMs: row.timeout_ms,
    ack: row.ack,
    completionTimeoutMs: row.completion_timeout_ms,
    overlap: row.overlap,
    priority: row.priority,
    onFailure: row.on_failure === null ? null : json<Target>('on_failure', row.on_failure),
    createdBy: row.created_by,
    createdVia: row.created_via,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    pausedAt: row.paused_at,
    cancelledAt: row.cancelled_at,
    notes: row.notes === null ? NO_NOTES : json<string[]>('notes', row.notes),
  }
}

const NO_NOTES: readonly string[] = []

/** A once alarm's rule needs no JSON: its instant and zone are columns. */
function ruleOf(row: AlarmRow): Rule {
  if (row.rule === null && row.fire_at !== null)
    return { kind: 'once', at: row.fire_at, timezone: row.timezone }
  const rule = json('rule', row.rule ?? 'null')
  if (isRule(rule) && rule.kind === row.kind) return rule
  throw new CorruptRow(`its rule is not one: ${(row.rule ?? 'null').slice(0, 200)}`)
}

function targetOf(row: AlarmRow): Target {
  const { target_kind: kind, target: name, pool } = row
  if (row.target_config === null) return { kind, name, pool }
  return { kind, name, pool, config: json<Record<string, unknown>>('target_config', row.target_config) }
}

function json<T = unknown>(column: string, text: string): T {
  try {
    return JSON.parse(text) as T
  } catch {
    throw new CorruptRow(`its ${column} is not JSON: ${text.slice(0, 200)}`)
  }
}

/** The values of an alarm's columns, in the order of `ALARM_COLUMNS` without `seq`. */
export function alarmValues(alarm: Alarm): Bindable[] {
  const { rule } = alarm
  const plain = rule.kind === 'once' && rule.misfire === undefined
  return [
    alarm.id,
    alarm.tenant,
    alarm.owner,
    alarm.generation,
    rule.kind,
    rule.timezone,
    rule.kind === 'once' ? rule.at : null,
    plain ? null : JSON.stringify(rule),
    alarm.label,
    alarm.target.kind,
    alarm.target.name,
    alarm.target.config === undefined ? null : JSON.stringify(alarm.target.config),
    alarm.target.pool,
    alarm.payload,
    alarm.message,
    alarm.conversationId,
    alarm.key,
    alarm.idempotencyKey,
    alarm.subject,
    alarm.correlationId,
    alarm.maxFailures,
    alarm.backoff.baseMs,
    alarm.backoff.capMs,
    alarm.timeoutMs,
    alarm.ack,
    alarm.completionTimeoutMs,
    alarm.overlap,
    alarm.priority,
    alarm.onFailure === null ? null : JSON.stringify(alarm.onFailure),
    alarm.createdBy,
    alarm.createdVia,
    alarm.createdAt,
    alarm.updatedAt,
    alarm.pausedAt,
    alarm.cancelledAt,
    alarm.notes.length === 0 ? null : JSON.stringify(alarm.notes),
  ]
}

/** The timer of a row. */
export function timerOf(row: TimerRow): Timer {
  return {
    id: row.id,
    shard: row.shard,
    kind: row.kind,
    wakeAt: row.wake_at,
    scheduledFor: row.scheduled_for,
    tick: row.tick,
    generation: row.generation,
    attempt: row.attempt,
    startedAt: row.started_at,
    waiting: row.waiting,
    version: row.version,
    edited: row.edited === 1,
    report: row.report === null ? null : json('report', row.report),
  }
}

/** The outcome of a row. */
export function outcomeOf(row: OutcomeRow | undefined): Outcome | null {
  if (row === undefined) return null
  return {
    status: row.status,
    startedAt: row.started_at,
    lastFiredAt: row.last_fired_at,
    completedAt: row.completed_at,
    durationMs: row.duration_ms,
    result: row.result,
    lastError: row.last_error,
    failureCount: row.failure_count,
    attempts: row.attempts,
  }
}
