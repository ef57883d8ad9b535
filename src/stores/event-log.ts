import type { AlarmEventType, Origin, Scope, Serial } from '../alarm/index.ts'

/** A row of the log. */
export interface LogEvent extends Scope {
  readonly seq: Serial
  readonly id: string
  readonly type: AlarmEventType | (string & {})
  readonly origin: Origin
  readonly alarmId: string | null
  readonly occurrenceId: string | null
  readonly key: string | null
  readonly subject: string | null
  readonly correlationId: string | null
  readonly at: number
  /** JSON text. */
  readonly data: string
}

/** An event that a user appends. */
export interface UserEvent {
  readonly id: string
  readonly type: string
  readonly at: number
  readonly subject: string | null
  readonly correlationId: string | null
  readonly data: string
}

/** Which events to return; a field that is left out does not filter. */
export interface EventFilter {
  /** Types, and beginnings of types, which end in a dot: `alarm.`. */
  readonly types?: readonly string[]
  readonly origin?: Origin
  readonly subject?: string
  readonly correlationId?: string
  /** Only events at or after this instant. */
  readonly since?: number
  /** Only events before this instant. */
  readonly until?: number
}

/** Which part of the log to read. */
export interface EventQuery {
  readonly after: Serial
  readonly limit: number
  readonly alarmId?: string
  readonly filter?: EventFilter
}

/** A page of the log. It may be empty although there is more: a filter passes over events that do not match. */
export interface EventPage {
  readonly events: readonly LogEvent[]
  /** Where to continue: everything up to here was read. */
  readonly next: Serial
  /** Whether there may be more now. */
  readonly more: boolean
}

/** Events that a page with a filter goes through, so that a filter that matches little does not keep the store busy. */
export const EVENTS_FILTERED_MAX = 10_000

/**
 * The values of a filter in the order in which the statements of stores take them; null does not filter. Exact types and
 * beginnings of types are separate lists.
 */
export function filterValues(filter: EventFilter = {}) {
  const {
    types = null,
    origin = null,
    subject = null,
    correlationId = null,
    since = null,
    until = null,
  } = filter
  const exact = types === null ? null : types.filter((type) => !type.endsWith('.'))
  const beginnings = types === null ? null : types.filter((type) => type.endsWith('.'))
  return { exact, beginnings, rest: [origin, subject, correlationId, since, until] as const }
}
