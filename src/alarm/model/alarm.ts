import { WakefulError } from '../../error.ts'
import {
  type CalendarLookup,
  type Clock,
  countBetween,
  type DaysOff,
  daysOffOf,
  type HolidayCalendar,
  type NextOccurrence,
  nthAfter,
  type RecurringRule,
  type Resolved,
  type Rule,
  wakeTime,
  zoneOffsetOf,
} from '../../time/index.ts'
import {
  blank,
  FIELD_COLUMNS,
  type FieldContext,
  type OptionFields,
  type SetOptions,
  writeOptions,
} from '../fields/index.ts'
import type { Context } from './change.ts'
import type { Outcome } from './lifecycle.ts'
import { BLANK_TIMER, type NewTimer, type Serial, type Timer } from './timer.ts'

/** The tenant and owner of a call: every query filters by both. */
export interface Scope {
  readonly tenant: string
  readonly owner: string
}

/** Whose rows a read sees: one owner's, those of a tenant's every owner, or those of every tenant. Null stands for all. */
export type ReadScope =
  | Scope
  | { readonly tenant: string; readonly owner: null }
  | { readonly tenant: null; readonly owner: null }

/** Whether a scope sees the rows of this tenant and owner. */
export function isSeen(scope: ReadScope, { tenant, owner }: Scope): boolean {
  return scope.tenant === null || (scope.tenant === tenant && (scope.owner === null || scope.owner === owner))
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
  /** When its wait began: its last set or reschedule. Nothing else moves it. */
  readonly registeredAt: number
  readonly pausedAt: number | null
  /** When it was cancelled. If an occurrence was firing then, the alarm ends with it: no retry, no recurrence. */
  readonly cancelledAt: number | null
  readonly notes: readonly string[]
}

/** An alarm with its timers and summary, read at one moment. */
export interface Snapshot {
  readonly alarm: Alarm
  readonly timers: readonly Timer[]
  readonly outcome: Outcome | null
  /** Timers that a process has recorded as being delivered now. */
  readonly inFlight: ReadonlySet<Serial>
  /** The occurrence that a report names, if it has timed out; `isNewest` if no other one of the alarm has since. */
  readonly timedOut?: TimedOut
}

/** An occurrence whose time-out is in the log. */
export interface TimedOut {
  readonly occurrence: string
  readonly isNewest: boolean
}

/** No calendars, as most alarms. */
export const NO_CALENDARS: readonly HolidayCalendar[] = []

/** Whether the alarm has more than one occurrence. */
export function recurs(alarm: Alarm): boolean {
  return alarm.rule.kind !== 'once'
}

/** The names of the calendars whose days the rule excludes. */
export function calendarNames({ rule }: Pick<Alarm, 'rule'>): readonly string[] {
  return rule.kind === 'once' ? [] : (rule.exclude?.calendars ?? [])
}

/** Whether an occurrence on a day off is moved to a working day; otherwise it is skipped. */
export function movesToWorkingDay(rule: RecurringRule): boolean {
  return rule.exclude?.move !== undefined
}

/** The days on which an alarm's rule does not fire. */
export function daysOff({ rule, calendars }: Alarm): DaysOff | null {
  if (rule.kind === 'once' || rule.exclude === undefined) return null
  return daysOffOf(rule.exclude, (name) => calendars.find((calendar) => calendar.name === name))
}

/** What building an alarm needs. */
export interface BuildContext extends FieldContext {
  readonly newId: () => string
  /** The calendars of the alarm's tenant. */
  readonly calendars?: CalendarLookup
}

/** The properties of a record that are not fields with a column of their own. */
const OTHERS = [
  'tenant', 'owner', 'id', 'generation', 'rule', 'calendars', 'target', 'payload', 'backoff', 'onFailure', 'createdAt',
  'updatedAt', 'registeredAt', 'pausedAt', 'cancelledAt', 'notes',
] as const // biome-ignore format: a list

/** The payload of an alarm that sets none, as in Chronos. */
const NO_PAYLOAD = '{}'

/** An alarm with only the defaults. */
const BLANK = blank<Alarm>([...OTHERS, ...FIELD_COLUMNS.map(({ name }) => name as keyof Alarm)])
Object.assign(BLANK, Object.fromEntries(FIELD_COLUMNS.map(({ name, defaultValue }) => [name, defaultValue])))

/** Builds the record of a new alarm, or refuses with what was wrong. */
export function buildAlarm(
  scope: Scope,
  resolved: Resolved,
  options: SetOptions,
  now: number,
  context: BuildContext,
): Alarm {
  const { defaults, calendars } = context
  const record = { ...BLANK }
  record.tenant = scope.tenant
  record.owner = scope.owner
  record.id = context.newId()
  record.generation = 1
  record.rule = resolved.rule
  record.calendars = calendars === undefined ? NO_CALENDARS : namedBy(resolved.rule, calendars)
  record.createdAt = now
  record.updatedAt = now
  record.registeredAt = now
  record.payload = NO_PAYLOAD
  record.notes = resolved.notes
  record.maxFailures = defaults.maxFailures
  record.completionTimeoutMs = defaults.completionTimeoutMs
  record.backoff = { baseMs: defaults.backoffBaseMs, capMs: defaults.backoffCapMs }
  writeOptions(record, options, 'set', context)
  if (record.target === null) throw new WakefulError('target.missing', {}, { field: 'target' })
  if (record.correlationId === '') record.correlationId = record.id
  return record
}

/** The first occurrence of an alarm; `nominal` differs from `first` where days off move it. */
export interface Beginning {
  readonly first: number
  readonly nominal?: number
}

/** The first timer of an alarm that was set. */
export function firstTimer(alarm: Alarm, { first, nominal = first }: Beginning): NewTimer {
  const { rule } = alarm
  const floor = rule.kind === 'once' ? null : Math.max(alarm.updatedAt, (rule.start ?? 0) - 1)
  return occurrenceAt(alarm, { at: first, nominal }, 1, floor === null ? null : Math.min(floor, first - 1))
}

/** The timer of an occurrence; parked if the alarm is paused. */
export function occurrenceAt(
  alarm: Alarm,
  next: NextOccurrence,
  tick: number,
  floor: number | null,
): NewTimer {
  const { rule } = alarm
  const at = withinCount(rule, next, tick)
  const { nominal } = next
  const paused = alarm.pausedAt !== null
  // An instant that was set as one has no jitter, and no offset that new zone data could change.
  const isInstant = rule.kind === 'once' && rule.wall === undefined
  return {
    ...BLANK_TIMER,
    wakeAt: paused ? null : isInstant ? at : wakeTime(rule, alarm.id, at),
    scheduledFor: at,
    nominal: nominal === at ? null : nominal,
    zoneOffset: isInstant ? null : zoneOffsetOf(rule, nominal),
    floor,
    tick,
    generation: alarm.generation,
    waiting: paused ? 'paused' : null,
  }
}

/** If skipped instants use up the rule's count, the timer is at the last of them: it writes their record there and ends. */
function withinCount(rule: Rule, { at, nominal }: NextOccurrence, tick: number): number {
  if (rule.kind === 'once' || rule.count === undefined || at === nominal || movesToWorkingDay(rule)) return at
  const left = rule.count - tick
  const { count } = countBetween(rule, nominal - 1, at - 1, left + 1)
  return count <= left ? at : nthAfter(rule, nominal - 1, left + 1, at)
}

/** The calendars a rule names. */
export function namedBy(rule: Rule, find: CalendarLookup): readonly HolidayCalendar[] {
  const names = calendarNames({ rule })
  return names.length === 0 ? NO_CALENDARS : names.flatMap((name) => find(name) ?? [])
}

/** The record after an edit; its `updatedAt` grows even when two edits share a millisecond. */
export function edited(alarm: Alarm, { now }: { readonly now: number }, fields: Partial<Alarm>): Alarm {
  return { ...alarm, ...fields, updatedAt: Math.max(now, alarm.updatedAt + 1) }
}

/** The fields of a record that an edit names, checked like those of a new one. */
export function editedFields(options: SetOptions, alarm: Alarm, context: FieldContext): Partial<Alarm> {
  const fields: { -readonly [K in keyof Alarm]?: Alarm[K] } = {}
  writeOptions(fields, options, 'edit', context)
  if (fields.correlationId === '') fields.correlationId = alarm.id
  return fields
}

const NONE: ReadonlySet<Serial> = new Set()

/** A new alarm after it was written. */
export function newSnapshot(alarm: Alarm, timer: NewTimer): Snapshot {
  return { alarm, timers: [newRow(timer)], outcome: null, inFlight: NONE }
}

/** Id and shard are placeholders: the store assigns them, and views do not have them. */
export function newRow(timer: NewTimer): Timer {
  return { ...timer, id: 0, shard: 0, version: 1, edited: false, report: null }
}

/** Makes ids that sort by time (UUIDv7): random ones cost SQLite five times as much at a million rows. */
export type IdMaker = (now: number) => string

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const POOL_BYTES = 4096
/** The counter within a millisecond: 12 bits after the version and 6 of the next byte. */
const COUNTER_MAX = 0x3ffff

/** Makes ids that never go back, even if the clock does or a millisecond has many. */
export function idMaker(fill: (bytes: Uint8Array<ArrayBuffer>) => void): IdMaker {
  const pool = new Uint8Array(POOL_BYTES)
  let used = POOL_BYTES
  let lastMs = -1
  let counter = 0
  // Formatted once per millisecond, which may have a thousand ids.
  let time = ''
  const moveTo = (ms: number, count: number) => {
    lastMs = ms
    counter = count
    const digits = ms.toString(16).padStart(12, '0')
    time = `${digits.slice(0, 8)}-${digits.slice(8)}`
  }
  return (now) => {
    if (used + 9 > POOL_BYTES) {
      fill(pool)
      used = 0
    }
    const at = used
    used += 9
    const random = (index: number) => HEX[pool[at + index]!]
    const ms = Math.max(0, now)
    if (ms > lastMs) moveTo(ms, (pool[at + 7]! << 8) | pool[at + 8]!)
    else if (++counter > COUNTER_MAX) moveTo(lastMs + 1, 0)
    const high = `${HEX[0x70 | (counter >> 14)]}${HEX[(counter >> 6) & 0xff]}`
    const low = HEX[0x80 | (counter & 0x3f)]
    return `${time}-${high}-${low}${random(0)}-${random(1)}${random(2)}${random(3)}${random(4)}${random(5)}${random(6)}`
  }
}

/** Where the context of a decision comes from. */
interface ContextSources {
  readonly clock: Pick<Clock, 'now'>
  /** Occurrences later than this are misfires. */
  readonly graceMs: number
  /** From 0 to below 1. */
  readonly random: () => number
  /** Fills with random bytes, for ids. */
  readonly fill: (bytes: Uint8Array<ArrayBuffer>) => void
}

/** Makes the contexts of decisions: the present moment, chance, and ids of that moment. */
export function contextMaker({ clock, graceMs, random, fill }: ContextSources): () => Context {
  const makeId = idMaker(fill)
  return () => {
    const now = clock.now()
    return { now, graceMs, random, newId: () => makeId(now) }
  }
}
