import { formatDuration, formatInstant, type Rule, ruleOptions } from '../../time/index.ts'
import {
  ALARM_FIELDS,
  type Backoff,
  blank,
  FIELD_COLUMNS,
  type Field,
  impliedPool,
  PLAIN_NAMES,
  type PlainFields,
  WIRE_NAMES,
} from '../fields/index.ts'
import { NO_OUTCOME, type Snapshot, stateOf, statusOf } from '../model/index.ts'

/** An alarm as users see it. */
export interface AlarmView extends PlainFields {
  readonly tenant: string
  readonly owner: string
  readonly rule: Rule
  readonly target: string
  readonly targetKind: string
  readonly pool: string
  readonly backoff: Backoff
  /** The name of the target that is called when the last attempt has failed. */
  readonly onFailure: string | null
  readonly payload: unknown
  /** The payload as JSON text, byte for byte: parsing loses digits beyond 2^53. */
  readonly payloadJson: string | null
  readonly traceparent: string | null
  readonly notes: readonly string[]
}

/** An empty view, which fixes the order of the fields. */
const BLANK = blank<AlarmView>([
  ...new Set<keyof AlarmView>(['id', 'tenant', 'owner', ...PLAIN_NAMES]),
  'rule', 'target', 'targetKind', 'pool', 'backoff', 'onFailure', 'payload', 'payloadJson', 'traceparent', 'notes',
]) // biome-ignore format: a list

/** The fields that a view has as the alarm's row has them. */
const FROM_RECORD = PLAIN_NAMES.filter((name) => FIELD_COLUMNS.some((column) => column.name === name))

/** The alarm as users see it, from what the store holds. */
export function viewOf(snapshot: Pick<Snapshot, 'alarm' | 'timers' | 'outcome'>): AlarmView {
  const { alarm, timers } = snapshot
  const { rule, target, payload } = alarm
  const outcome = snapshot.outcome ?? NO_OUTCOME
  const view = { ...BLANK }
  const [to, from] = [view as Record<string, unknown>, alarm as unknown as Record<string, unknown>]
  // Most fields of most alarms are null, as they are in the blank view already: to skip them takes half of the loop's time.
  for (const name of FROM_RECORD) if (from[name] !== null) to[name] = from[name]
  view.id = alarm.id
  view.tenant = alarm.tenant
  view.owner = alarm.owner
  view.kind = rule.kind
  view.status = statusOf(stateOf(alarm, timers, snapshot.outcome))
  view.rule = asRead(rule)
  view.timezone = rule.timezone
  view.nextFireAt = view.status === 'active' ? nextFireAt(snapshot) : null
  view.fireAt = rule.kind === 'once' ? new Date(rule.at) : null
  view.target = target.name
  view.targetKind = target.kind
  view.pool = target.pool
  view.backoff = alarm.backoff
  view.timeout = alarm.timeoutMs === null ? null : formatDuration(alarm.timeoutMs)
  view.completionTimeout = formatDuration(alarm.completionTimeoutMs)
  // Only its name, as of the target: the rest may hold headers.
  view.onFailure = alarm.onFailure?.name ?? null
  view.payload = payload === null ? undefined : readPayload(payload)
  view.payloadJson = payload
  view.traceparent = alarm.traceparent
  view.failureCount = outcome.failureCount
  view.attempts = outcome.attempts
  view.lastError = outcome.lastError
  view.result = outcome.result
  view.startedAt = dateOf(outcome.startedAt)
  view.completedAt = dateOf(outcome.completedAt)
  view.durationMs = outcome.durationMs
  view.lastFiredAt = dateOf(outcome.lastFiredAt)
  view.createdAt = new Date(alarm.createdAt)
  view.updatedAt = new Date(alarm.updatedAt)
  view.registeredAt = new Date(alarm.registeredAt)
  view.cancelledAt = dateOf(alarm.cancelledAt)
  view.notes = alarm.notes
  return view
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
    // While it waits for a handler or an operator, `wakeAt` is only the next check: users see when it was due.
    const isLate = timer.waiting === 'handler' || timer.waiting === 'operator_pause'
    const at = isLate ? timer.scheduledFor : timer.wakeAt
    if (at !== null && (earliest === null || at < earliest)) earliest = at
  }
  return dateOf(earliest)
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms)
}

const JSON_FIELDS = WIRE_NAMES.map((name) => {
  const { wire, type, omits = [] } = ALARM_FIELDS[name] as Field
  return { name: name as keyof AlarmView, type, wire: wire!, omits: omits as readonly unknown[] }
})
const INSTANTS = JSON_FIELDS.filter(({ type }) => type === 'instant')
const SAME = JSON_FIELDS.filter(({ type }) =>
  ['text', 'choice', 'integer', 'duration', 'target'].includes(type),
)
/** The fields in their order. The payload is not one of them: its text is put in front of all others. */
const BLANK_JSON = blank<Record<string, unknown>>(
  JSON_FIELDS.filter(({ type }) => type !== 'payload').map(({ wire }) => wire),
)

/** An alarm as JSON text: Chronos's fields with their omissions, then Wakeful's own where they have a value. */
export function wireJson(view: AlarmView): string {
  const { rule, notes, payloadJson } = view
  const json = { ...BLANK_JSON }
  for (const { name, wire, omits } of SAME) {
    const value = view[name]
    json[wire] = omits.includes(value) ? undefined : value
  }
  for (const { name, wire } of INSTANTS) {
    const date = view[name] as Date | null
    json[wire] = date === null ? undefined : formatInstant(date.getTime())
  }
  json.cron_expr = rule.kind === 'cron' ? rule.cron : undefined
  json.rrule = rule.kind === 'rrule' ? rule.rrule : undefined
  json.every = rule.kind === 'every' ? rule.every : undefined
  json.when = whenOptions(rule)
  json.backoff = { base_ms: view.backoff.baseMs, cap_ms: view.backoff.capMs }
  json.pool = view.pool === impliedPool(view.target) ? undefined : view.pool
  json.notes = notes.length === 0 ? undefined : notes
  const text = JSON.stringify(json)
  // As it was given: parsing it would lose digits beyond 2^53 (promise: verbatim).
  return payloadJson === null ? text : `{"payload":${payloadJson},${text.slice(1)}`
}

/** The same with the alarm's tenant and owner, for reads across owners. */
export function ownedWireJson(view: AlarmView): string {
  const { tenant, owner } = view
  return `${JSON.stringify({ tenant, owner }).slice(0, -1)},${wireJson(view).slice(1)}`
}

/** Without what only a later set of the same key compares: the phrase that it was written as, the instant before a snooze. */
function asRead(rule: Rule): Rule {
  if (rule.kind === 'once') {
    if (rule.asked === undefined) return rule
    const { asked: _, ...read } = rule
    return read
  }
  if (rule.written === undefined) return rule
  const { written: _, ...read } = rule
  return read
}

/** The options of a rule, where it has any: `start, end, count, jitter, misfire, dst, exclude`. */
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
