import { type Alarm, bucketOf, type Outcome, type Snapshot, stateOf, type Timer } from '../alarm/index.ts'
import { errorText, WakefulError } from '../error.ts'
import { isRule } from '../time/index.ts'
import type { LogEvent } from './store.ts'

/** The version of the lines below; a reader refuses what is newer. */
export const PORTABLE_VERSION = 1

/** One line of an export. Alarms come first, then the log in its order, then the counts that prove it is whole. */
export type PortableLine =
  | {
      readonly wakeful: 'export'
      readonly version: number
      readonly exportedAt: string
      readonly alarms: number
      readonly events: number
    }
  | { readonly alarm: Alarm; readonly timers: readonly Timer[]; readonly outcome: Outcome | null }
  | { readonly event: Omit<LogEvent, 'seq'> }
  | { readonly end: true; readonly alarms: number; readonly events: number }

/** An alarm as an export carries it, with all that is known of it. */
export type PortableAlarm = Extract<PortableLine, { alarm: Alarm }>

/** An event as an export carries it. */
export type PortableEvent = Extract<PortableLine, { event: unknown }>

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
    if (typeof line.alarm.id !== 'string' || !isRule(line.alarm.rule))
      throw refuse('its alarm has no id or no rule')
    return line
  }
  if ('event' in line || 'end' in line) return line
  throw refuse('neither an alarm, an event nor the end')
}

/** How an imported alarm counts in the figures. */
export function portableTally({ alarm, timers, outcome }: PortableAlarm) {
  const snapshot: Snapshot = { alarm, timers, outcome, inFlight: new Set() }
  const bucket = bucketOf(stateOf(snapshot.alarm, snapshot.timers, snapshot.outcome))
  return { from: 'pending', to: bucket, durationMs: outcome?.durationMs ?? null } as const
}

/** Names within a target's own configuration are its user's, and stay. */
const OTHERS_NAMES = 'config'

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((each) => renamed(each, rename))
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value)
  return Object.fromEntries(
    entries.map(([name, each]) => [rename(name), name === OTHERS_NAMES ? each : renamed(each, rename)]),
  )
}
