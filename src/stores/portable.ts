import {
  type Alarm,
  bucketOf,
  type NewTimer,
  NO_CALENDARS,
  type Outcome,
  type Scope,
  type Snapshot,
  stateOf,
} from '../alarm/index.ts'
import { errorText, WakefulError } from '../error.ts'
import { type HolidayCalendar, isHolidayCalendar, isRule } from '../time/index.ts'
import type { Document } from './document.ts'
import type { InboxWake } from './inbox.ts'
import type { StoredAlarm } from './rows.ts'
import type { LogEvent } from './store.ts'

/** The version of the lines below; a reader refuses what is newer. Version 4 wrote `hold` for `operator_pause`. */
const PORTABLE_VERSION = 5

/**
 * One line of an export. Calendars and documents come first, then alarms, then the log in its order, then the wakes that lie
 * in inboxes, then the counts that prove it is whole.
 */
export type PortableLine =
  | {
      readonly wakeful: 'export'
      readonly version: number
      readonly exportedAt: string
      readonly alarms: number
      readonly events: number
    }
  | { readonly calendar: Omit<HolidayCalendar, 'version'> & { readonly tenant: string } }
  /** As it is, wherever it goes: what a document says of its own installation is its reader's to judge. */
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
  /** A row that could not be read: told, so that nobody takes the export for whole, and passed over by imports. */
  | { readonly damaged: { readonly row: number; readonly reason: string } }
  | {
      readonly end: true
      readonly alarms: number
      readonly events: number
      /** Absent in exports before version 4. */
      readonly documents?: number
      readonly wakes?: number
    }

/** An alarm as an export carries it, with all that is known of it. */
export type PortableAlarm = Extract<PortableLine, { alarm: Alarm }>

/** A calendar as an export carries it. */
export type PortableCalendar = Extract<PortableLine, { calendar: unknown }>

/** An event as an export carries it. */
export type PortableEvent = Extract<PortableLine, { event: unknown }>

/** A document as an export carries it. */
export type PortableDocument = Extract<PortableLine, { document: unknown }>

/** A wake as an export carries it. */
export type PortableWake = Extract<PortableLine, { wake: unknown }>

/** A line that stands for a row. */
export type PortableRow = PortableCalendar | PortableDocument | PortableAlarm | PortableEvent | PortableWake

/** The first line. */
export function portableHead(exportedAt: string, counts: { alarms: number; events: number }): PortableLine {
  return { wakeful: 'export', version: PORTABLE_VERSION, exportedAt, ...counts }
}

/** All that is known of an alarm, as its line. Its calendars are lines of their own. */
export function portableAlarm(
  { alarm: { seq, ...alarm }, timers, outcome }: Snapshot & { readonly alarm: StoredAlarm },
  formerKeys: readonly string[],
): PortableAlarm {
  const line = { alarm: { ...alarm, calendars: NO_CALENDARS }, timers: timers.map(portableTimer), outcome }
  return formerKeys.length === 0 ? line : { ...line, formerKeys: [...formerKeys].sort() }
}

/** What any store knows of a timer. What was in flight when it was exported is due where it is imported. */
export function portableTimer(timer: NewTimer): NewTimer {
  const { kind, wakeAt, scheduledFor, nominal = null, zoneOffset = null, floor = null } = timer
  const { tick, generation, attempt, startedAt, waiting, delivered } = timer
  // Older exports knew neither days off nor zone offsets.
  const instants = { kind, wakeAt, scheduledFor, nominal, zoneOffset, floor }
  return { ...instants, tick, generation, attempt, startedAt, waiting: waitingOf(waiting), delivered }
}

function waitingOf(waiting: NewTimer['waiting'] | 'hold'): NewTimer['waiting'] {
  return waiting === 'hold' ? 'operator_pause' : waiting
}

/** The line of a document. */
export function portableDocument({ version, ...document }: Document): PortableDocument {
  return { document }
}

/** The line of an event. */
export function portableEvent({ seq, ...event }: LogEvent): PortableEvent {
  return { event }
}

/** The line of a row that cannot be read: one damaged row must not keep the others from being saved. */
export function portableDamage(row: number, thrown: unknown): PortableLine {
  return { damaged: { row, reason: errorText(thrown) } }
}

/** A line as text: names in snake_case like all JSON of Wakeful's, payloads and other users' data byte for byte. */
export function portableText(line: PortableLine): string {
  return JSON.stringify(
    renamed(line, (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)),
  )
}

/** Reads a line back, or says what is wrong with it. */
export function parsePortable(text: string, lineNumber: number): PortableLine {
  const refuse = (problem: string) =>
    new WakefulError('invalid_request', `line ${lineNumber} of the export: ${problem}`)
  let line: PortableLine
  try {
    line = renamed(JSON.parse(text), (name) =>
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    ) as PortableLine
  } catch (thrown) {
    throw refuse(`not JSON (${errorText(thrown)})`)
  }
  if (line === null || typeof line !== 'object') throw refuse('not an object')
  // Looked for only where it is written. Within what is kept as JSON text, such as a payload, it is escaped once more.
  if (text.includes('\\u0000') && hasNul(line)) throw refuse('a text of it holds \\u0000, which no text may')
  if ('wakeful' in line) {
    if (line.version > PORTABLE_VERSION)
      throw refuse(
        `version ${line.version} is newer than ${PORTABLE_VERSION}, which this Wakeful reads: upgrade it`,
      )
    return line
  }
  if ('alarm' in line) {
    if (!isPortableAlarm(line)) throw refuse('its alarm is not whole')
    // Older exports knew no traces.
    return { ...line, alarm: { ...line.alarm, traceparent: line.alarm.traceparent ?? null } }
  }
  if ('calendar' in line) {
    const { tenant, ...calendar } = line.calendar ?? {}
    if (typeof tenant !== 'string' || !isHolidayCalendar({ ...calendar, version: 1 }))
      throw refuse('its calendar is not whole')
    return line
  }
  if ('event' in line) {
    if (!hasAll(line.event, EVENT_TEXTS, ['at'])) throw refuse('its event is not whole')
    return line
  }
  if ('document' in line) {
    if (!hasAll(line.document, DOCUMENT_TEXTS, ['updatedAt'])) throw refuse('its document is not whole')
    return line
  }
  if ('wake' in line) {
    if (!hasAll(line.wake, WAKE_TEXTS, ['arrivedAt', 'tries'])) throw refuse('its wake is not whole')
    return line
  }
  if ('damaged' in line || ('end' in line && hasAll(line, [], ['alarms', 'events']))) return line
  throw refuse('neither a calendar, a document, an alarm, an event, a wake nor the end')
}

const ALARM_TEXTS = [
  'id',
  'tenant',
  'owner',
  'label',
  'message',
  'conversationId',
  'correlationId',
  'ack',
  'overlap',
  'createdVia',
]
const ALARM_NUMBERS = [
  'generation',
  'maxFailures',
  'completionTimeoutMs',
  'priority',
  'createdAt',
  'updatedAt',
]
const TIMER_NUMBERS = ['scheduledFor', 'tick', 'generation', 'attempt']
/** Absent in exports of version 1. */
const TIMER_PLACES = ['wakeAt', 'nominal', 'zoneOffset', 'floor', 'startedAt']
const DOCUMENT_TEXTS = ['kind', 'name', 'tenant', 'value']
const WAKE_TEXTS = ['tenant', 'owner', 'occurrenceId', 'alarmId', 'body']
const EVENT_TEXTS = ['id', 'tenant', 'owner', 'type', 'origin', 'data']

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
      (timer) => hasAll(timer, ['kind'], TIMER_NUMBERS) && hasNumbersOrNone(timer, TIMER_PLACES),
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

function hasNumbersOrNone(value: object, names: readonly string[]): boolean {
  const of = value as Record<string, unknown>
  return names.every((name) => of[name] === undefined || of[name] === null || Number.isSafeInteger(of[name]))
}

/** How an imported alarm counts in the figures. */
export function portableTally({ alarm, timers, outcome }: PortableAlarm) {
  const bucket = bucketOf(stateOf(alarm, timers, outcome))
  return { from: 'pending', to: bucket, durationMs: outcome?.durationMs ?? null } as const
}

/** Whether its instants were found on a zone's wall clock, by the zone data of another store. */
export function isZoned({ timers }: PortableAlarm): boolean {
  return timers.some(({ zoneOffset }) => zoneOffset !== null && zoneOffset !== undefined)
}

/** The name of an event's occurrence within its alarm. */
export function occurrenceIn({ alarmId, occurrenceId }: PortableEvent['event']): string | null {
  return alarmId === null || occurrenceId === null ? null : occurrenceId.slice(alarmId.length + 1)
}

/** Whether nothing of an alarm is still to come. */
export function hasEnded({ timers }: { readonly timers: readonly unknown[] }): boolean {
  return timers.length === 0
}

/** The same alarm under its id alone. */
export function withoutKey(line: PortableAlarm): PortableAlarm {
  return { ...line, alarm: { ...line.alarm, key: null } }
}

/** A name stands for one alarm: importing another under it would replace what is here. */
export function nameTaken(
  alarm: Alarm,
  what: 'key' | 'idempotency key',
  value: string,
  by: string,
): WakefulError {
  const advice =
    what === 'key'
      ? 'cancel it and import again, or cancel the other where it comes from and export again'
      : 'it is remembered as long as its alarm is kept, so import into another store (another file, another ?schema=)'
  return new WakefulError(
    'conflict',
    `alarm ${alarm.id} has the ${what} ${JSON.stringify(value)}, which is alarm ${by} here: ${advice}`,
  )
}

/** An alarm cannot be resolved again without the calendars it names. */
export function calendarMissing({ id }: Alarm, name: string): WakefulError {
  return new WakefulError(
    'invalid_request',
    `alarm ${id} names the calendar ${name}, which is neither in the export before it nor here: put it first`,
  )
}

/** An event is read through its alarm. */
export function alarmMissing({ id, alarmId }: PortableEvent['event'] & Scope): WakefulError {
  return new WakefulError(
    'invalid_request',
    `event ${id} is of alarm ${alarmId}, which is neither in the export before it nor here`,
  )
}

/** Names within a target's own configuration are its user's, and stay; so do a calendar's dates. */
const OTHERS_NAMES: ReadonlySet<string> = new Set(['config', 'dates'])

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((each) => renamed(each, rename))
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value)
  return Object.fromEntries(
    entries.map(([name, each]) => [rename(name), OTHERS_NAMES.has(name) ? each : renamed(each, rename)]),
  )
}
