import {
  type Alarm,
  blank,
  type EventDraft,
  eventJson,
  type Failure,
  FIELD_COLUMNS,
  type NewTimer,
  NO_CALENDARS,
  type Origin,
  type Outcome,
  type Scope,
  type Serial,
  type Snapshot,
  type Tally,
  type Target,
  type Timer,
} from '../alarm/index.ts'
import { type HolidayCalendar, isHolidayCalendar, parseRule, type Rule } from '../time/index.ts'
import type { LogEvent } from './event-log.ts'
import type { NewCalendar, Stats } from './store.ts'

/** An alarm with its row number. Only its store sets and reads `seq`; copies made by edits keep it. */
export type StoredAlarm = Alarm & { readonly seq: Serial }

/** A snapshot of an alarm, with its row number. */
export interface StoredSnapshot extends Snapshot {
  readonly alarm: StoredAlarm
}

/** A row that cannot be read. It is quarantined with this reason, and the rest of the batch continues. */
export class CorruptRow extends Error {
  override readonly name = 'CorruptRow'
}

/** The columns that are not options of an alarm: identity, rule, target, payload, backoff and the row's instants. */
const OTHER_COLUMNS = [
  'id', 'tenant', 'owner', 'generation', 'kind', 'timezone', 'fire_at', 'rule', 'calendars', 'target_kind', 'target',
  'target_config', 'pool', 'payload', 'backoff_base_ms', 'backoff_cap_ms', 'on_failure', 'created_at', 'updated_at',
  'paused_at', 'cancelled_at', 'notes', 'registered_at',
] as const // biome-ignore format: a list

/** An alarm's columns, in the order in which they are read and written. `seq` leads where a row is read. */
export const ALARM_COLUMNS: readonly string[] = [
  ...OTHER_COLUMNS,
  ...FIELD_COLUMNS.map(({ column }) => column),
]

/** Which of an alarm's columns are numbers; the rest are text. */
export const NUMBER_COLUMNS: ReadonlySet<string> = new Set([
  'generation', 'fire_at', 'backoff_base_ms', 'backoff_cap_ms', 'created_at', 'updated_at', 'registered_at', 'paused_at',
  'cancelled_at',
  ...FIELD_COLUMNS.filter(({ isNumber }) => isNumber).map(({ column }) => column),
]) // biome-ignore format: a list

/** A timer's columns, in the order in which they are read. */
export const TIMER_COLUMNS = [
  'id', 'alarm', 'shard', 'kind', 'wake_at', 'scheduled_for', 'tick', 'generation', 'attempt', 'started_at',
  'waiting', 'delivered', 'version', 'edited', 'report', 'nominal', 'zone_offset', 'floor',
] as const // biome-ignore format: a list

/** A row as a list of its columns' values: reading those is twice as fast as reading objects. */
export type Values = readonly unknown[]

/**
 * The alarm of a row (`seq`, then `ALARM_COLUMNS`, from `at` on), without its calendars, which are separate rows. Throws
 * CorruptRow if its rule cannot be read.
 */
export function alarmOf(values: Values, at = 0): StoredAlarm {
  const text = (column: number) => values[at + column] as string
  const number = (column: number) => values[at + column] as number
  const textOrNull = (column: number) => values[at + column] as string | null
  const numberOrNull = (column: number) => values[at + column] as number | null
  const alarm = { ...BLANK }
  alarm.seq = number(0)
  alarm.id = text(1)
  alarm.tenant = text(2)
  alarm.owner = text(3)
  alarm.generation = number(4)
  alarm.rule = ruleOf(text(5), text(6), numberOrNull(7), textOrNull(8))
  alarm.calendars = NO_CALENDARS
  alarm.target = targetOf(text(10), text(11), textOrNull(12), text(13))
  alarm.payload = textOrNull(14)
  alarm.backoff = { baseMs: number(15), capMs: number(16) }
  alarm.onFailure = textOrNull(17) === null ? null : onFailureOf(text(17))
  alarm.createdAt = number(18)
  alarm.updatedAt = number(19)
  alarm.pausedAt = numberOrNull(20)
  alarm.cancelledAt = numberOrNull(21)
  alarm.notes = textOrNull(22) === null ? NO_NOTES : notesOf(text(22))
  alarm.registeredAt = number(23)
  const fields = alarm as Record<string, unknown>
  for (let i = 0; i < FIELD_NAMES.length; i++) {
    const value = values[at + FIELDS_AT + i]
    if (value !== null) fields[FIELD_NAMES[i]!] = value
  }
  return alarm
}

const FIELD_NAMES = FIELD_COLUMNS.map(({ name }) => name)
const FIELDS_AT = 1 + OTHER_COLUMNS.length
const BLANK = blank<StoredAlarm>([
  'seq', 'id', 'tenant', 'owner', 'generation', 'rule', 'calendars', 'target', 'payload', 'backoff', 'onFailure', 'createdAt',
  'updatedAt', 'pausedAt', 'cancelledAt', 'notes', 'registeredAt', ...(FIELD_NAMES as (keyof Alarm)[]),
]) // biome-ignore format: a list

const NO_NOTES: readonly string[] = []

function notesOf(text: string): string[] {
  const notes = json('notes', text)
  if (Array.isArray(notes) && notes.every((note) => typeof note === 'string')) return notes
  throw new CorruptRow(`its notes are not a list of texts: ${text.slice(0, 200)}`)
}

function onFailureOf(text: string): Target {
  const target = json<Partial<Target> | null>('on_failure', text)
  const { kind, name, pool } = target ?? {}
  if ([kind, name, pool].every((part) => typeof part === 'string')) return target as Target
  throw new CorruptRow(`its on_failure is not a target: ${text.slice(0, 200)}`)
}

/** A once alarm's rule needs no JSON: its instant and zone are columns. */
function ruleOf(kind: string, timezone: string, fireAt: number | null, rule: string | null): Rule {
  if (rule === null && fireAt !== null) return { kind: 'once', at: fireAt, timezone }
  const text = rule ?? 'null'
  const read = json('rule', text, parseRule)
  if (read?.kind === kind) return read
  throw new CorruptRow(`its rule is not a rule: ${text.slice(0, 200)}`)
}

function targetOf(kind: string, name: string, config: string | null, pool: string): Target {
  if (config === null) return { kind, name, pool }
  return { kind, name, pool, config: json<Record<string, unknown>>('target_config', config) }
}

function json<T = unknown>(column: string, text: string, read: (text: string) => T = JSON.parse): T {
  try {
    return read(text)
  } catch {
    throw new CorruptRow(`its ${column} is not JSON: ${text.slice(0, 200)}`)
  }
}

/** The values of an alarm's columns, in the order of `ALARM_COLUMNS`. */
export function alarmValues(alarm: Alarm): (string | number | null)[] {
  const { rule, target, backoff, onFailure, notes } = alarm
  const plain =
    rule.kind === 'once' && rule.misfire === undefined && rule.wall === undefined && rule.asked === undefined
  const calendars = rule.kind === 'once' ? undefined : rule.exclude?.calendars
  const values = [
    alarm.id,
    alarm.tenant,
    alarm.owner,
    alarm.generation,
    rule.kind,
    rule.timezone,
    rule.kind === 'once' ? rule.at : null,
    plain ? null : JSON.stringify(rule),
    calendars === undefined ? null : JSON.stringify(calendars),
    target.kind,
    target.name,
    target.config === undefined ? null : JSON.stringify(target.config),
    target.pool,
    alarm.payload,
    backoff.baseMs,
    backoff.capMs,
    onFailure === null ? null : JSON.stringify(onFailure),
    alarm.createdAt,
    alarm.updatedAt,
    alarm.pausedAt,
    alarm.cancelledAt,
    notes.length === 0 ? null : JSON.stringify(notes),
    alarm.registeredAt,
  ]
  const fields = alarm as unknown as Readonly<Record<string, string | number | null>>
  for (const name of FIELD_NAMES) values.push(fields[name]!)
  return values
}

/** The timer of a row (`TIMER_COLUMNS`). */
export function timerOf(values: Values): Timer {
  const [
    id, , shard, kind, wakeAt, scheduledFor, tick, generation, attempt, startedAt,
    waiting, delivered, version, edited, report, nominal, zoneOffset, floor,
  ] = values as TimerValues // biome-ignore format: a list
  return {
    id,
    shard,
    kind,
    wakeAt,
    scheduledFor,
    nominal,
    zoneOffset,
    floor,
    tick,
    generation,
    attempt,
    startedAt,
    waiting,
    delivered: delivered === 1,
    version,
    edited: edited === 1,
    report: report === null ? null : json('report', report),
  }
}

type TimerValues = [
  number, number, number, Timer['kind'], number | null, number, number, number, number, number | null,
  Timer['waiting'], number, number, number, string | null, number | null, number | null,
  number | null,
] // biome-ignore format: a list

/**
 * The values of a timer's columns after a move, from `kind` on, in the order in which they are written; what the move does
 * not name stays. Written out, because copying objects is slower.
 */
export function timerValues(timer: NewTimer, move: Partial<NewTimer> = timer) {
  const delivered = move.delivered ?? timer.delivered
  return [
    move.kind ?? timer.kind,
    orBefore(move.wakeAt, timer.wakeAt),
    move.scheduledFor ?? timer.scheduledFor,
    orBefore(move.nominal, timer.nominal),
    orBefore(move.zoneOffset, timer.zoneOffset),
    orBefore(move.floor, timer.floor),
    move.tick ?? timer.tick,
    move.generation ?? timer.generation,
    move.attempt ?? timer.attempt,
    orBefore(move.startedAt, timer.startedAt),
    orBefore(move.waiting, timer.waiting),
    delivered ? 1 : 0,
  ] as const
}

/** The new value, which may be null; the one before if there is none. */
function orBefore<T>(value: T | undefined, before: T): T {
  return value === undefined ? before : value
}

/** The row of a timer's alarm. */
export function alarmSeqOf(values: Values): Serial {
  return values[1] as Serial
}

/** The outcome of a row: the columns from `status` on. */
export function outcomeOf(values: Values): Outcome {
  const [
    status, startedAt, lastFiredAt, completedAt, durationMs, result, lastError, failureCount, attempts,
  ] = values as OutcomeValues // biome-ignore format: a list
  const instants = { startedAt, lastFiredAt, completedAt, durationMs }
  return { status, ...instants, result, lastError, failureCount, attempts }
}

/** The values of an outcome, in the same order. */
export function outcomeValues(outcome: Outcome): OutcomeValues {
  const { status, startedAt, lastFiredAt, completedAt, durationMs, result, lastError } = outcome
  const { failureCount, attempts } = outcome
  return [status, startedAt, lastFiredAt, completedAt, durationMs, result, lastError, failureCount, attempts]
}

type OutcomeValues = [
  Outcome['status'], number | null, number | null, number | null, number | null, string | null, string | null, number,
  number,
] // biome-ignore format: a list

/** The event of a row of the log, which is read with its alarm's id and key. */
export function eventOf(values: Values): LogEvent {
  const [
    seq, id, tenant, owner, type, origin, alarmId, occurrence, key, subject, correlationId, failure, at, data,
  ] = values as EventValues // biome-ignore format: a list
  const occurrenceId = alarmId === null || occurrence === null ? null : `${alarmId}-${occurrence}`
  const names = { alarmId, occurrenceId, key, subject, correlationId }
  return { seq, id, tenant, owner, type, origin, ...names, failure, at, data }
}

/** The values of an event to write: its names, its alarm's row, its instant and its data. */
export function eventValues(id: string, alarm: StoredAlarm, event: EventDraft) {
  const { tenant, owner, seq, subject, correlationId } = alarm
  const { type, origin, occurrence, failure = null, at } = event
  const names = [id, tenant, owner, type, origin, seq, occurrence, subject, correlationId] as const
  return [...names, failure, at, eventJson(event)] as const
}

type EventValues = [
  Serial, string, string, string, string, Origin, string | null, string | null, string | null, string | null,
  string | null, Failure | null, number, string,
] // biome-ignore format: a list

/** The calendar of a row: its name, version, dates and weekend. */
export function calendarOf(values: Values): HolidayCalendar {
  const [name, version, dates, weekend] = values as [string, number, string, string]
  const calendar: unknown = { name, version, dates: JSON.parse(dates), weekend: JSON.parse(weekend) }
  if (isHolidayCalendar(calendar)) return calendar
  throw new CorruptRow(`its calendar ${name} is not a calendar: put it again`)
}

/** Whether two calendars have the same days: writing the same again is no edit. */
export function hasSameDays(a: NewCalendar, b: NewCalendar): boolean {
  const daysOf = ({ dates, weekend }: NewCalendar) => JSON.stringify([dates, weekend])
  return daysOf(a) === daysOf(b)
}

const TALLY_COLUMNS = [
  'total', 'pending', 'fired', 'completed', 'failed', 'cancelled', 'timed_out', 'duration', 'measured',
] as const // biome-ignore format: a list

type Sums = Record<(typeof TALLY_COLUMNS)[number], number>

/** A key for an owner that is unique over all tenants. */
export function ownerKey({ tenant, owner }: Scope): string {
  return `${tenant}\0${owner}`
}

/** How one owner's tallies change: total, pending, fired, completed, failed, cancelled, timed out, sum of durations, their number. */
export interface TallyRow {
  readonly scope: Scope
  readonly sums: readonly number[]
}

/** The stats of an owner, from the sums in the same order. */
export function statsOf(sums: readonly number[]): Stats {
  const [total = 0, pending = 0, fired = 0, completed = 0, failed = 0, cancelled = 0, ...rest] = sums
  const [timedOut = 0, durationMs = 0, measured = 0] = rest
  const avgDurationMs = measured === 0 ? null : Math.round(durationMs / measured)
  return { total, pending, fired, completed, failed, cancelled, timedOut, avgDurationMs }
}

/** Collects the changes of the tallies in one write, so that it writes one row per owner, however many alarms changed. */
export class Tallies {
  readonly #sums = new Map<string, { readonly scope: Scope; readonly sums: Sums }>()

  created(scope: Scope): void {
    const sums = this.#of(scope)
    sums.total += 1
    sums.pending += 1
  }

  add(scope: Scope, tally: Tally): void {
    const sums = this.#of(scope)
    if (tally.from !== tally.to) {
      if (tally.from !== null) sums[tally.from] -= 1
      if (tally.to !== null) sums[tally.to] += 1
    }
    if (tally.occurrence !== undefined) sums[tally.occurrence] += 1
    if (tally.durationMs !== null) {
      sums.duration += tally.durationMs
      sums.measured += 1
    }
  }

  /** Adds the changes of work that could have been rolled back. */
  merge(other: Tallies): void {
    for (const { scope, sums } of other.#sums.values()) {
      const own = this.#of(scope)
      for (const column of TALLY_COLUMNS) own[column] += sums[column]
    }
  }

  /** Returns the changes, one row per owner in a fixed order, and starts over. */
  drain(): TallyRow[] {
    const rows = [...this.#sums.entries()]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, { scope, sums }]) => ({ scope, sums: TALLY_COLUMNS.map((column) => sums[column]) }))
    this.#sums.clear()
    return rows
  }

  #of(scope: Scope): Sums {
    const { tenant, owner } = scope
    const name = ownerKey(scope)
    const known = this.#sums.get(name)
    if (known !== undefined) return known.sums
    const sums = Object.fromEntries(TALLY_COLUMNS.map((column) => [column, 0])) as Sums
    this.#sums.set(name, { scope: { tenant, owner }, sums })
    return sums
  }
}
