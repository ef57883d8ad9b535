import { formatInstant, type Rule, ruleOptions } from '../../time/index.ts'
import type { AlarmView } from './view.ts'

/** An alarm as JSON text: Chronos's fields with their omissions, then Wakeful's own where they have a value. */
export function wireJson(view: AlarmView): string {
  const fields = wireFields(view)
  if (view.payloadJson === null) return JSON.stringify(fields)
  // The payload is spliced in as it was given: parsing it would lose digits beyond 2^53 (promise: verbatim).
  const text = JSON.stringify(fields)
  const at = text.indexOf('"payload":null')
  return `${text.slice(0, at)}"payload":${view.payloadJson}${text.slice(at + '"payload":null'.length)}`
}

function wireFields(view: AlarmView): Record<string, unknown> {
  const { rule } = view
  return {
    // The payload stands before every field a user writes freely, so that the splice above finds its own.
    payload: view.payloadJson === null ? undefined : null,
    id: view.id,
    label: view.label,
    kind: view.kind,
    cron_expr: rule.kind === 'cron' ? rule.cron : undefined,
    timezone: view.timezone,
    next_fire_at: instant(view.nextFireAt),
    conversation_id: text(view.conversationId),
    wake_message: view.message,
    status: view.status,
    idempotency_key: view.idempotencyKey ?? undefined,
    max_failures: view.maxFailures,
    failure_count: view.failureCount,
    last_error: text(view.lastError),
    created_at: instant(view.createdAt),
    last_fired_at: instant(view.lastFiredAt),
    rrule: rule.kind === 'rrule' ? rule.rrule : undefined,
    every: rule.kind === 'every' ? rule.every : undefined,
    when: whenOptions(rule),
    fire_at: instant(view.fireAt),
    key: view.key ?? undefined,
    subject: view.subject ?? undefined,
    correlation_id: view.correlationId,
    target: view.target,
    pool: view.pool === impliedPool(view.target) ? undefined : view.pool,
    ack: view.ack,
    overlap: view.overlap === 'skip' ? undefined : view.overlap,
    priority: view.priority === 0 ? undefined : view.priority,
    result: view.result ?? undefined,
    started_at: instant(view.startedAt),
    completed_at: instant(view.completedAt),
    duration_ms: view.durationMs ?? undefined,
    attempts: view.attempts > 0 ? view.attempts : undefined,
    created_by: view.createdBy ?? undefined,
    created_via: view.createdVia,
    updated_at: instant(view.updatedAt),
    notes: view.notes.length > 0 ? view.notes : undefined,
  }
}

/** Who runs a target whose name says it: a pool is told only where it is another. */
function impliedPool(target: string): string {
  return /^(?:event|inbox|default)$|^https?:/.test(target) ? 'wakeful' : 'app'
}

/** What the rule says beside its text, where it says anything: `start, end, count, jitter, misfire, dst, exclude`. */
function whenOptions(rule: Rule): Record<string, unknown> | undefined {
  const bounds =
    rule.kind === 'once'
      ? {}
      : {
          ...(rule.start !== undefined && { start: formatInstant(rule.start) }),
          ...(rule.end !== undefined && { end: formatInstant(rule.end) }),
          ...(rule.count !== undefined && { count: rule.count }),
        }
  const options = { ...bounds, ...ruleOptions(rule) }
  return Object.keys(options).length === 0 ? undefined : options
}

function instant(date: Date | null): string | undefined {
  return date === null ? undefined : formatInstant(date.getTime())
}

function text(value: string | null): string | undefined {
  return value === null || value === '' ? undefined : value
}
