import type { HolidayCalendar, Rule } from '../../time/index.ts'

/** Whose rows a call may see: every query carries both. */
export interface Scope {
  readonly tenant: string
  readonly owner: string
}

/** When a delivery counts as done: at once, or when the target reports. */
export type Ack = 'delivery' | 'report'

/** What happens when an occurrence comes due while an earlier one still awaits its report. */
export type Overlap = 'skip' | 'queue' | 'allow'

/** Where a fire goes, normalized: `name` is what lists and history filter by. */
export interface Target {
  readonly kind: string
  readonly name: string
  readonly config?: Readonly<Record<string, unknown>>
  /** Who can run it: `wakeful` for built-in targets, else the pool of the application's handlers. */
  readonly pool: string
}

/** A target by its kind and name, as those name it who pause one; a webhook by its address, however that is written. */
export function targetKey({ kind, name }: Pick<Target, 'kind' | 'name'>): string {
  return `${kind} ${kind === 'webhook' && URL.canParse(name) ? addressOf(new URL(name)) : name}`
}

/** What of a URL is sent: an empty query is none. */
function addressOf(url: URL): string {
  return `${originOf(url)}${url.pathname}${url.search}`
}

/** Where a URL leads, in one form: a host is the same with the dot behind it that ends a full name. */
export function originOf({ origin }: URL): string {
  return origin.replace(/\.(?=(?::\d+)?$)/, '')
}

/** Delays between attempts: doubling from the base up to the cap. */
export interface Backoff {
  readonly baseMs: number
  readonly capMs: number
}

/** The record: what was asked and by whom. Written by users' calls only, never by a fire. */
export interface Alarm extends Scope {
  readonly id: string
  /** Grows with every reschedule, and is part of each occurrence's id. */
  readonly generation: number
  readonly rule: Rule
  /** The calendars its rule names, as the store holds them: read with the record, never written with it. */
  readonly calendars: readonly HolidayCalendar[]
  readonly label: string
  readonly target: Target
  /** JSON text, kept byte for byte. */
  readonly payload: string | null
  readonly message: string
  readonly conversationId: string
  readonly key: string | null
  readonly idempotencyKey: string | null
  readonly subject: string | null
  readonly correlationId: string
  /** The W3C trace context it was set in, which goes with every wake. */
  readonly traceparent: string | null
  readonly maxFailures: number
  readonly backoff: Backoff
  readonly timeoutMs: number | null
  readonly ack: Ack
  readonly completionTimeoutMs: number
  readonly overlap: Overlap
  readonly priority: number
  readonly onFailure: Target | null
  readonly createdBy: string | null
  readonly createdVia: string
  readonly createdAt: number
  /** Strictly increases with every edit, so that a caller can say which version it saw. */
  readonly updatedAt: number
  readonly pausedAt: number | null
  /** A cancel that came while an occurrence was firing: no retry, no recurrence. */
  readonly cancelledAt: number | null
  readonly notes: readonly string[]
}

/** What most alarms have: no calendars at all. */
export const NO_CALENDARS: readonly HolidayCalendar[] = []

/** Whether the alarm has more than one occurrence. */
export function recurs(alarm: Alarm): boolean {
  return alarm.rule.kind !== 'once'
}

/** The calendars whose days its rule leaves out, by name. */
export function calendarNames({ rule }: Alarm): readonly string[] {
  return rule.kind === 'once' ? [] : (rule.exclude?.calendars ?? [])
}
