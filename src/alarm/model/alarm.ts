import type { HolidayCalendar, Rule } from '../../time/index.ts'
import type { OptionFields, Target } from '../fields/index.ts'

/** The tenant and owner of a call: every query filters by both. */
export interface Scope {
  readonly tenant: string
  readonly owner: string
}

/** The name by which an operator pauses a target; a webhook is named by its normalized URL. */
export function targetKey({ kind, name }: Pick<Target, 'kind' | 'name'>): string {
  return `${kind} ${kind === 'webhook' && URL.canParse(name) ? addressOf(new URL(name)) : name}`
}

/** The part of a URL that is sent; an empty query is dropped. */
function addressOf(url: URL): string {
  return `${originOf(url)}${url.pathname}${url.search}`
}

/** The normalized host of a URL: a trailing dot makes no difference. */
export function originOf({ origin }: URL): string {
  return origin.replace(/\.(?=(?::\d+)?$)/, '')
}

/** The record: what was asked and by whom. Written by users' calls only, never by a fire. */
export interface Alarm extends Scope, OptionFields {
  readonly id: string
  /** Grows with every reschedule, and is part of each occurrence's id. */
  readonly generation: number
  readonly rule: Rule
  /** The calendars its rule names, as the store has them: read with the record, never written with it. */
  readonly calendars: readonly HolidayCalendar[]
  readonly createdAt: number
  /** Strictly increases with every edit, so that a caller can name the version it has read. */
  readonly updatedAt: number
  readonly pausedAt: number | null
  /** When it was cancelled while an occurrence was firing: no retry, no recurrence. */
  readonly cancelledAt: number | null
  readonly notes: readonly string[]
}

/** No calendars, as most alarms. */
export const NO_CALENDARS: readonly HolidayCalendar[] = []

/** Whether the alarm has more than one occurrence. */
export function recurs(alarm: Alarm): boolean {
  return alarm.rule.kind !== 'once'
}

/** The names of the calendars whose days the rule excludes. */
export function calendarNames({ rule }: Alarm): readonly string[] {
  return rule.kind === 'once' ? [] : (rule.exclude?.calendars ?? [])
}
