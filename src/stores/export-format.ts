import {
  type Alarm,
  bucketOf,
  FIELD_COLUMNS,
  type NewTimer,
  NO_CALENDARS,
  type Outcome,
  type Serial,
  stateOf,
} from '../alarm/index.ts'
import { errorText, WakefulError } from '../error.ts'
import { formatInstant, type HolidayCalendar, isHolidayCalendar, isRule } from '../time/index.ts'
import type { Document } from './document.ts'
import type { LogEvent } from './event-log.ts'
import type { InboxWake } from './inbox.ts'
import type { StoredSnapshot, Values } from './rows.ts'

/**
 * The version of the format below. Version 4, of unreleased stores, wrote `hold` for `operator_pause`, and `switchboard` for
 * the document of pauses.
 */
const PORTABLE_VERSION = 5
/** The oldest version that can be imported. */
const PORTABLE_VERSION_MIN = 4

/**
 * One line of an export. Calendars and documents come first, because alarms need them; then alarms, the log in its order,
 * the wakes in inboxes, and the counts that show whether a line is missing.
 */
export type PortableLine =
  | {
      readonly wakeful: 'export'
      readonly version: number
      readonly exportedAt: string
      readonly alarms: number
      readonly events: number
      /** The fingerprint of the store's secret, which encrypts headers. Missing if it had none, and in older exports. */
      readonly secret?: string
    }
  | { readonly calendar: Omit<HolidayCalendar, 'version'> & { readonly tenant: string } }
  /** Unchanged: only the reader of a document knows what in it belongs to one installation. */
  | { readonly document: Omit<Document, 'version'> }
  | {
      readonly alarm: Alarm
      readonly timers: readonly NewTimer[]
      readonly outcome: Outcome | null
      /** Idempotency keys that an upsert has replaced, where there are any. */
      readonly formerKeys?: readonly string[]
    }
  | { readonly event: Omit<LogEvent, 'seq'> }
  | { readonly wake: InboxWake }
  /** A row that could not be read. It is listed so that the export shows what it lacks; imports skip it. */
  | { readonly damaged: { readonly row: number; readonly reason: string } }
  | {
      readonly end: true
      readonly alarms: number
      readonly events: number
      readonly documents: number
      readonly wakes: number
    }

/** Rows that an export reads at a time. */
const PAGE = 500

/** An alarm in an export, with its timers and outcome. */
export type PortableAlarm = Extract<PortableLine, { alarm: Alarm }>

/** A calendar in an export. */
export type PortableCalendar = Extract<PortableLine, { calendar: unknown }>

/** An event in an export. */
export type PortableEvent = Extract<PortableLine, { event: unknown }>

/** A document in an export. */
export type PortableDocument = Extract<PortableLine, { document: unknown }>

/** A wake in an export. */
export type PortableWake = Extract<PortableLine, { wake: unknown }>

/** A line that an import writes. */
export type PortableRow = PortableCalendar | PortableDocument | PortableAlarm | PortableEvent | PortableWake

/** A whole export: the first line, these lines, and the last one with their counts. */
export async function* portableExport(
  now: number,
  { secret, ...counts }: { alarms: number; events: number; secret: string | null },
  lines: AsyncIterable<PortableLine>,
): AsyncGenerator<PortableLine> {
  const head = { wakeful: 'export', version: PORTABLE_VERSION, exportedAt: formatInstant(now) } as const
  yield { ...head, ...counts, ...(secret !== null && { secret }) }
  const written = { alarms: 0, events: 0, documents: 0, wakes: 0 }
  for await (const line of lines) {
    if ('alarm' in line) written.alarms += 1
    else if ('event' in line) written.events += 1
    else if ('document' in line) written.documents += 1
    else if ('wake' in line) written.wakes += 1
    yield line
  }
  yield { end: true, ...written }
}

/** The pages of a table in row order; the first column says where the next one continues. */
export async function* pagesOf(
  read: (after: Serial, limit: number) => Promise<Values[]> | Values[],
): AsyncGenerator<Values[]> {
  for (let after: Serial = 0; ; ) {
    const rows = await read(after, PAGE)
    yield rows
    if (rows.length < PAGE) return
    after = rows.at(-1)![0] as Serial
  }
}

/** The line of an alarm. Its calendars have their own lines. */
export function portableAlarm(
  { alarm: { seq, ...alarm }, timers, outcome }: StoredSnapshot,
  formerKeys: readonly string[],
): PortableAlarm {
  const line = { alarm: { ...alarm, calendars: NO_CALENDARS }, timers: timers.map(portableTimer), outcome }
  return formerKeys.length === 0 ? line : { ...line, formerKeys: [...formerKeys].sort() }
}

/** A timer without the columns that belong to one store. What was in flight is due again where it is imported. */
function portableTimer(timer: NewTimer): NewTimer {
  const { kind, wakeAt, scheduledFor, nominal, zoneOffset, floor } = timer
  const { tick, generation, attempt, startedAt, waiting, delivered } = timer
  const instants = { kind, wakeAt, scheduledFor, nominal, zoneOffset, floor }
  return { ...instants, tick, generation, attempt, startedAt, waiting, delivered }
}

/** The line of a document. */
export function portableDocument({ version, ...document }: Document): PortableDocument {
  return { document }
}

/** The line of an event. */
export function portableEvent({ seq, ...event }: LogEvent): PortableEvent {
  return { event }
}

/** The line of a row that cannot be read. One damaged row must not prevent an export of the others. */
export function portableDamage(row: number, thrown: unknown): PortableLine {
  return { damaged: { row, reason: errorText(thrown) } }
}

/** A line as text, with names in snake_case as in all of Wakeful's JSON. Payloads and other user data stay byte for byte. */
export function portableText(line: PortableLine): string {
  return JSON.stringify(
    renamed(line, (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)),
  )
}

/** Parses a line; throws with the line's number and what is wrong with it. */
export function parsePortable(text: string, lineNumber: number): PortableLine {
  const at = { line: lineNumber }
  let line: PortableLine
  try {
    line = renamed(JSON.parse(text), (name) =>
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    ) as PortableLine
  } catch (thrown) {
    throw new WakefulError('export.not_json', { ...at, cause: errorText(thrown) })
  }
  if (line === null || typeof line !== 'object') throw new WakefulError('export.not_object', at)
  // PostgreSQL cannot store U+0000 in text. In JSON that is stored as text, such as a payload, it is escaped twice and fine.
  if (text.includes('\\u0000') && hasNul(line)) throw new WakefulError('export.nul_character', at)
  if ('wakeful' in line) {
    assertReadable(line.version, lineNumber)
    return line
  }
  const kind = kindOf(line)
  // `never`: TypeScript does not see that the line is of this kind.
  if (kind !== undefined && !IS_COMPLETE[kind](line as never))
    throw new WakefulError('export.incomplete', { ...at, kind })
  if ('alarm' in line) {
    const timers = line.timers.map((timer) => ({ ...timer, waiting: waitingOf(timer.waiting) }))
    // An older export does not say when the wait began.
    const older = { ...ALARM_NULLS, registeredAt: line.alarm.createdAt }
    return { ...line, alarm: { ...older, ...line.alarm }, timers }
  }
  if ('document' in line) {
    const { document } = line
    return { document: { ...document, kind: document.kind === 'switchboard' ? 'pauses' : document.kind } }
  }
  if (kind === undefined && !('damaged' in line) && !('end' in line && hasAll(line, [], COUNTS)))
    throw new WakefulError('export.unknown_line', at)
  return line
}

function assertReadable(version: number, line: number): void {
  if (version > PORTABLE_VERSION)
    throw new WakefulError('export.too_new', { line, version, max: PORTABLE_VERSION })
  if (version < PORTABLE_VERSION_MIN)
    throw new WakefulError('export.too_old', { line, version, min: PORTABLE_VERSION_MIN })
}

function waitingOf(waiting: NewTimer['waiting'] | 'hold'): NewTimer['waiting'] {
  return waiting === 'hold' ? 'operator_pause' : waiting
}

const NOT_NULL = FIELD_COLUMNS.filter(({ defaultValue }) => defaultValue !== null)
const TEXTS = NOT_NULL.filter(({ isNumber }) => !isNumber).map(({ name }) => name)
const NUMBERS = NOT_NULL.filter(({ isNumber }) => isNumber).map(({ name }) => name)
const ALARM_TEXTS = ['id', 'tenant', 'owner', ...TEXTS]
const ALARM_NUMBERS = ['generation', 'createdAt', 'updatedAt', ...NUMBERS]
/** Fields that an export made before they were added does not have. */
const ALARM_NULLS = Object.fromEntries(
  FIELD_COLUMNS.filter(({ defaultValue }) => defaultValue === null).map(({ name }) => [name, null]),
)
const TIMER_NUMBERS = ['scheduledFor', 'tick', 'generation', 'attempt']
const TIMER_NUMBERS_OR_NULL = ['wakeAt', 'nominal', 'zoneOffset', 'floor', 'startedAt']
const COUNTS = ['alarms', 'events', 'documents', 'wakes']

/** Whether a line of each kind that an import writes has everything that it must have. */
const IS_COMPLETE = {
  calendar({ calendar }: PortableCalendar) {
    const { tenant, ...days } = calendar ?? {}
    return typeof tenant === 'string' && isHolidayCalendar({ ...days, version: 1 })
  },
  document: ({ document }: PortableDocument) =>
    hasAll(document, ['kind', 'name', 'tenant', 'value'], ['updatedAt']),
  alarm: isPortableAlarm,
  event: ({ event }: PortableEvent) =>
    hasAll(event, ['id', 'tenant', 'owner', 'type', 'origin', 'data'], ['at']),
  wake: ({ wake }: PortableWake) =>
    hasAll(wake, ['tenant', 'owner', 'occurrenceId', 'alarmId', 'body'], ['arrivedAt', 'tries']),
} as const

/** The kind of a line, if an import writes it. */
export function kindOf(line: PortableLine): keyof typeof IS_COMPLETE | undefined {
  return (Object.keys(IS_COMPLETE) as (keyof typeof IS_COMPLETE)[]).find((kind) => kind in line)
}

function isPortableAlarm(line: PortableAlarm): boolean {
  const { alarm, timers, outcome, formerKeys = [] } = line
  return (
    hasAll(alarm, ALARM_TEXTS, ALARM_NUMBERS) &&
    isRule(alarm.rule) &&
    hasAll(alarm.target, ['kind', 'name', 'pool'], []) &&
    hasAll(alarm.backoff, [], ['baseMs', 'capMs']) &&
    Array.isArray(alarm.notes) &&
    Array.isArray(timers) &&
    timers.every(
      (timer) => hasAll(timer, ['kind'], TIMER_NUMBERS) && hasNumbersOrNull(timer, TIMER_NUMBERS_OR_NULL),
    ) &&
    (outcome === null || hasAll(outcome, [], ['failureCount', 'attempts'])) &&
    Array.isArray(formerKeys) &&
    formerKeys.every((key) => typeof key === 'string')
  )
}

function hasAll(value: unknown, texts: readonly string[], numbers: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false
  const of = value as Record<string, unknown>
  return (
    texts.every((name) => typeof of[name] === 'string') &&
    numbers.every((name) => Number.isSafeInteger(of[name]))
  )
}

function hasNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0')
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, each]) => name !== 'config' && hasNul(each))
}

function hasNumbersOrNull(value: object, names: readonly string[]): boolean {
  const of = value as Record<string, unknown>
  return names.every((name) => of[name] === null || Number.isSafeInteger(of[name]))
}

/** How an imported alarm counts in the tallies. */
export function portableTally({ alarm, timers, outcome }: PortableAlarm) {
  const bucket = bucketOf(stateOf(alarm, timers, outcome))
  return { from: 'pending', to: bucket, durationMs: outcome?.durationMs ?? null } as const
}

/** Whether its instants depend on zone data: the exporting process may have had another version of it. */
export function isZoned({ timers }: PortableAlarm): boolean {
  return timers.some(({ zoneOffset }) => zoneOffset !== null && zoneOffset !== undefined)
}

/** The occurrence of an event, without the alarm's id in front. */
export function occurrenceIn({ alarmId, occurrenceId }: PortableEvent['event']): string | null {
  return alarmId === null || occurrenceId === null ? null : occurrenceId.slice(alarmId.length + 1)
}

/** Whether an alarm has ended: no timer is left. */
export function hasEnded({ timers }: { readonly timers: readonly unknown[] }): boolean {
  return timers.length === 0
}

/** The same alarm without its key. */
export function withoutKey(line: PortableAlarm): PortableAlarm {
  return { ...line, alarm: { ...line.alarm, key: null } }
}

/** Refuses an alarm whose key another alarm has here: importing it would replace that one. */
export function nameConflict(
  alarm: Alarm,
  what: 'key' | 'idempotency key',
  value: string,
  by: string,
): WakefulError {
  const reason = what === 'key' ? 'import.key_taken' : 'import.idempotency_key_taken'
  return new WakefulError(reason, { alarm: alarm.id, value: JSON.stringify(value), by })
}

/** The names inside a target's configuration and a calendar's dates are the user's and stay as they are. */
const USER_NAMES: ReadonlySet<string> = new Set(['config', 'dates'])

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((each) => renamed(each, rename))
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value)
  return Object.fromEntries(
    entries.map(([name, each]) => [rename(name), USER_NAMES.has(name) ? each : renamed(each, rename)]),
  )
}
