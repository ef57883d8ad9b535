import { type Alarm, bucketOf, type Outcome, type Snapshot, stateOf, type Timer } from '../alarm/index.ts'
import { errorText, WakefulError } from '../error.ts'
import { type HolidayCalendar, isHolidayCalendar, isRule } from '../time/index.ts'
import type { LogEvent } from './store.ts'

/** The version of the lines below; a reader refuses what is newer. */
export const PORTABLE_VERSION = 2

/** One line of an export. Calendars come first, then alarms, then the log in its order, then the counts that prove it is whole. */
export type PortableLine =
  | {
      readonly wakeful: 'export'
      readonly version: number
      readonly exportedAt: string
      readonly alarms: number
      readonly events: number
    }
  | { readonly calendar: Omit<HolidayCalendar, 'version'> & { readonly tenant: string } }
  | { readonly alarm: Alarm; readonly timers: readonly Timer[]; readonly outcome: Outcome | null }
  | { readonly event: Omit<LogEvent, 'seq'> }
  /** A row that could not be read: told, so that nobody takes the export for whole, and passed over by imports. */
  | { readonly damaged: { readonly row: number; readonly reason: string } }
  | { readonly end: true; readonly alarms: number; readonly events: number }

/** An alarm as an export carries it, with all that is known of it. */
export type PortableAlarm = Extract<PortableLine, { alarm: Alarm }>

/** A calendar as an export carries it. */
export type PortableCalendar = Extract<PortableLine, { calendar: unknown }>

/** An event as an export carries it. */
export type PortableEvent = Extract<PortableLine, { event: unknown }>

/** A line that stands for a row. */
export type PortableRow = PortableCalendar | PortableAlarm | PortableEvent

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
  if ('wakeful' in line) {
    if (line.version > PORTABLE_VERSION)
      throw refuse(
        `version ${line.version} is newer than ${PORTABLE_VERSION}, which this Wakeful reads: upgrade it`,
      )
    return line
  }
  if ('alarm' in line) {
    if (!isPortableAlarm(line)) throw refuse('its alarm is not whole')
    return line
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
  if ('damaged' in line || ('end' in line && hasAll(line, [], ['alarms', 'events']))) return line
  throw refuse('neither a calendar, an alarm, an event nor the end')
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
const TIMER_NUMBERS = ['scheduledFor', 'tick', 'generation', 'attempt', 'version']
/** Absent in exports of version 1. */
const TIMER_PLACES = ['wakeAt', 'nominal', 'zoneOffset', 'floor', 'startedAt']
const EVENT_TEXTS = ['id', 'tenant', 'owner', 'type', 'origin', 'data']

function isPortableAlarm(line: PortableAlarm): boolean {
  const { alarm, timers, outcome } = line
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
    (outcome === null || hasAll(outcome, [], ['failureCount', 'attempts']))
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

function hasNumbersOrNone(value: object, names: readonly string[]): boolean {
  const of = value as Record<string, unknown>
  return names.every((name) => of[name] === undefined || of[name] === null || Number.isSafeInteger(of[name]))
}

/** How an imported alarm counts in the figures. */
export function portableTally({ alarm, timers, outcome }: PortableAlarm) {
  const snapshot: Snapshot = { alarm, timers, outcome, inFlight: new Set() }
  const bucket = bucketOf(stateOf(snapshot.alarm, snapshot.timers, snapshot.outcome))
  return { from: 'pending', to: bucket, durationMs: outcome?.durationMs ?? null } as const
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
