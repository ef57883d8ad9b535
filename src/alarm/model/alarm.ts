import type { HolidayCalendar, Rule } from '../../time/index.ts'
import type { OptionFields, Target } from '../fields/index.ts'

/** Whose rows a call may see: every query carries both. */
export interface Scope {
  readonly tenant: string
  readonly owner: string
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

/** The record: what was asked and by whom. Written by users' calls only, never by a fire. */
export interface Alarm extends Scope, OptionFields {
  readonly id: string
  /** Grows with every reschedule, and is part of each occurrence's id. */
  readonly generation: number
  readonly rule: Rule
  /** The calendars its rule names, as the store holds them: read with the record, never written with it. */
  readonly calendars: readonly HolidayCalendar[]
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
