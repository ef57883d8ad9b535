import { display, WakefulError } from '../../error.ts'
import {
  type CalendarLookup,
  type HolidayCalendar,
  parseDuration,
  type Resolved,
  type Rule,
} from '../../time/index.ts'
import { assertText, type Limits, payloadText, traceparentOf } from '../fields/index.ts'
import { type Ack, type Alarm, NO_CALENDARS, type Overlap, type Scope, type Target } from './alarm.ts'

/** What a user may say of a target: a handler's name, or an object that names its kind. */
export type TargetSpec = string | { readonly [kind: string]: unknown }

/** What can be said of an alarm beside its *when*; the same through every door. */
export interface SetOptions {
  readonly label?: string
  readonly target?: TargetSpec
  /** Any JSON value, or `rawJson(text)`. */
  readonly payload?: unknown
  readonly message?: string
  readonly conversationId?: string
  /** Names the alarm within its owner: setting the same key again reschedules it. */
  readonly key?: string
  /** Setting it again changes nothing and returns the first one. */
  readonly idempotencyKey?: string
  readonly subject?: string
  readonly correlationId?: string
  /** The W3C trace context of the set (`00-…`): it is carried to every wake. */
  readonly traceparent?: string
  readonly maxFailures?: number
  readonly backoff?: { readonly baseMs?: number; readonly capMs?: number }
  /** How long one attempt may take, as a duration. */
  readonly timeout?: string
  readonly ack?: Ack
  /** How long a report is awaited, as a duration. */
  readonly completionTimeout?: string
  readonly overlap?: Overlap
  readonly priority?: number
  /** Where an occurrence goes whose attempts are used up. */
  readonly onFailure?: TargetSpec
  readonly createdBy?: string
  readonly createdVia?: string
}

/** What an alarm gets where its options say nothing. */
export interface AlarmDefaults {
  readonly maxFailures: number
  readonly backoffBaseMs: number
  readonly backoffCapMs: number
  readonly completionTimeoutMs: number
}

/** The defaults of the contract. */
export const DEFAULTS: AlarmDefaults = {
  maxFailures: 5,
  backoffBaseMs: 5_000,
  backoffCapMs: 3_600_000,
  completionTimeoutMs: 300_000,
}

const PRIORITY_MAX = 100
/** A hundred years: longer waits than that are alarms of their own. */
const DURATION_MS_MAX = 36_500 * 86_400_000
const MAX_FAILURES_MAX = 1_000_000
/** The options an alarm has: the one list of their names. */
export const ALARM_OPTIONS: { readonly [K in keyof Required<SetOptions>]: true } = {
  label: true,
  target: true,
  payload: true,
  message: true,
  conversationId: true,
  key: true,
  idempotencyKey: true,
  subject: true,
  correlationId: true,
  traceparent: true,
  maxFailures: true,
  backoff: true,
  timeout: true,
  ack: true,
  completionTimeout: true,
  overlap: true,
  priority: true,
  onFailure: true,
  createdBy: true,
  createdVia: true,
}

/** What building an alarm needs from its surroundings. */
export interface BuildContext {
  readonly limits: Limits
  readonly defaults: AlarmDefaults
  readonly target: (spec: TargetSpec) => Target
  readonly newId: () => string
  /** The calendars of the alarm's tenant. */
  readonly calendars?: CalendarLookup
}

/** Builds the record of a new alarm, or refuses with what was wrong. */
export function buildAlarm(
  scope: Scope,
  resolved: Resolved,
  options: SetOptions,
  now: number,
  shop: BuildContext,
): Alarm {
  assertKnown(options)
  if (options.target === undefined) {
    throw new WakefulError(
      'invalid_request',
      "no target: say where the fire goes, e.g. target: 'remind' (a handler), 'inbox', { webhook: 'https://…' } or { event: true }; or give its owner a default target",
    )
  }
  const id = shop.newId()
  const described = describeFields(options, shop, id)
  const delivery = deliveryFields(options, shop)
  // Field by field: an object that is put together from others takes three times the memory, and a batch has a thousand.
  return {
    tenant: scope.tenant,
    owner: scope.owner,
    id,
    generation: 1,
    rule: resolved.rule,
    calendars: shop.calendars === undefined ? NO_CALENDARS : namedBy(resolved.rule, shop.calendars),
    target: shop.target(options.target),
    label: described.label,
    payload: described.payload,
    message: described.message,
    conversationId: described.conversationId,
    key: described.key,
    idempotencyKey: described.idempotencyKey,
    subject: described.subject,
    correlationId: described.correlationId,
    traceparent: described.traceparent,
    createdBy: described.createdBy,
    createdVia: described.createdVia,
    maxFailures: delivery.maxFailures,
    backoff: delivery.backoff,
    timeoutMs: delivery.timeoutMs,
    ack: delivery.ack,
    completionTimeoutMs: delivery.completionTimeoutMs,
    overlap: delivery.overlap,
    priority: delivery.priority,
    onFailure: delivery.onFailure,
    createdAt: now,
    updatedAt: now,
    pausedAt: null,
    cancelledAt: null,
    notes: resolved.notes,
  }
}

/** The calendars a rule names. */
export function namedBy(rule: Rule, find: CalendarLookup): readonly HolidayCalendar[] {
  const names = rule.kind === 'once' ? undefined : rule.exclude?.calendars
  return names === undefined ? NO_CALENDARS : names.flatMap((name) => find(name) ?? [])
}

/** A correlation id that nobody gives is the alarm's own id, which needs no entry in an index of its own. */
function describeFields(options: SetOptions, shop: BuildContext, id: string) {
  const name = (field: keyof SetOptions) => optionalName(field, options[field], shop.limits)
  return {
    label: name('label') ?? '',
    payload: payloadText(options.payload, shop.limits),
    message:
      options.message === undefined
        ? ''
        : assertText('message', options.message, shop.limits.messageBytesMax),
    conversationId: name('conversationId') ?? '',
    key: filled('key', name('key')),
    idempotencyKey: filled('idempotencyKey', name('idempotencyKey')),
    subject: filled('subject', name('subject')),
    correlationId: filled('correlationId', name('correlationId')) ?? id,
    traceparent: options.traceparent === undefined ? null : traceparentOf(options.traceparent),
    createdBy: name('createdBy'),
    createdVia: name('createdVia') ?? 'library',
  }
}

function deliveryFields(options: SetOptions, shop: BuildContext) {
  const { defaults } = shop
  if (options.backoff !== undefined && (typeof options.backoff !== 'object' || options.backoff === null)) {
    throw new WakefulError('invalid_request', 'backoff must be { baseMs, capMs }')
  }
  const baseMs = integer('backoff.baseMs', options.backoff?.baseMs ?? defaults.backoffBaseMs, 0, 86_400_000)
  return {
    maxFailures: integer('maxFailures', options.maxFailures ?? defaults.maxFailures, 1, MAX_FAILURES_MAX),
    backoff: {
      baseMs,
      capMs: integer(
        'backoff.capMs',
        options.backoff?.capMs ?? Math.max(baseMs, defaults.backoffCapMs),
        baseMs,
        31 * 86_400_000,
      ),
    },
    timeoutMs: options.timeout === undefined ? null : positiveDuration('timeout', options.timeout),
    ack: oneOf('ack', options.ack ?? 'delivery', ['delivery', 'report']),
    completionTimeoutMs:
      options.completionTimeout === undefined
        ? defaults.completionTimeoutMs
        : positiveDuration('completionTimeout', options.completionTimeout),
    overlap: oneOf('overlap', options.overlap ?? 'skip', ['skip', 'queue', 'allow']),
    priority: integer('priority', options.priority ?? 0, -PRIORITY_MAX, PRIORITY_MAX),
    onFailure: options.onFailure === undefined ? null : shop.target(options.onFailure),
  }
}

/** The fields of a record that an edit names, checked like those of a new one. */
export function editedFields(options: SetOptions, alarm: Alarm, shop: BuildContext): Partial<Alarm> {
  assertKnown(options)
  for (const fixed of ['key', 'idempotencyKey', 'createdBy', 'createdVia'] as const) {
    if (options[fixed] !== undefined)
      throw new WakefulError('invalid_request', `${fixed} cannot be edited: set another alarm`)
  }
  const described = describeFields({ correlationId: alarm.correlationId, ...options }, shop, alarm.id)
  const delivery = deliveryFields(options, shop)
  const all: Partial<Alarm> = {
    ...described,
    ...delivery,
    ...(options.target !== undefined && { target: shop.target(options.target) }),
  }
  const rename: Partial<Record<keyof SetOptions, keyof Alarm>> = {
    timeout: 'timeoutMs',
    completionTimeout: 'completionTimeoutMs',
  }
  const named = Object.keys(options).filter((name) => options[name as keyof SetOptions] !== undefined)
  const fields = new Set<string>(named.map((name) => rename[name as keyof SetOptions] ?? name))
  return Object.fromEntries(Object.entries(all).filter(([field]) => fields.has(field)))
}

function assertKnown(options: SetOptions): void {
  if (typeof options !== 'object' || options === null) {
    throw new WakefulError(
      'invalid_request',
      `options must be an object, not ${options === null ? 'null' : typeof options}`,
    )
  }
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(ALARM_OPTIONS, name)) continue
    throw new WakefulError(
      'invalid_request',
      `unknown option ${JSON.stringify(name)}; known are ${Object.keys(ALARM_OPTIONS).join(', ')}`,
    )
  }
}

function optionalName(field: string, value: unknown, limits: Limits): string | null {
  return value === undefined || value === null ? null : assertText(field, value, limits.nameBytesMax)
}

function filled(field: string, value: string | null): string | null {
  if (value === '')
    throw new WakefulError('invalid_request', `${field} is empty: leave it out or give it a value`)
  return value
}

function integer(field: string, value: unknown, min: number, max: number): number {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number
  throw new WakefulError(
    'invalid_request',
    `${field} must be a whole number from ${min} to ${max}, not ${display(value)}`,
  )
}

function oneOf<T extends string>(field: string, value: unknown, allowed: readonly T[]): T {
  if (allowed.includes(value as T)) return value as T
  throw new WakefulError(
    'invalid_request',
    `${field} must be one of ${allowed.join(', ')}, not ${display(value)}`,
  )
}

function positiveDuration(field: string, value: unknown): number {
  if (typeof value !== 'string')
    throw new WakefulError(
      'invalid_request',
      `${field} must be a duration such as '30s' or 'PT5M', not ${display(value)}`,
    )
  const ms = parseDuration(value)
  if (ms <= 0) throw new WakefulError('invalid_request', `${field} must be longer than nothing`)
  if (ms > DURATION_MS_MAX)
    throw new WakefulError('invalid_request', `${field} is at most 36500d, not ${value}`)
  return ms
}
