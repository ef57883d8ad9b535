import type { Breach } from './breach.ts'
import type { Ask, Entry, Start } from './entries.ts'
import type { Evidence, LogRecord } from './evidence.ts'
import { judge } from './judge.ts'

/** When things are due in what is written here by hand. */
export const T = 1_800_000_000_000

/** An ask for one alarm at T. */
export function ask(name: string, more: Partial<Ask> = {}): Ask {
  return {
    type: 'ask',
    run: 1,
    name,
    key: null,
    instants: [T],
    ack: 'delivery',
    toLog: false,
    effect: false,
    ...more,
  }
}

/** Its answer. */
export function set(name: string, alarmId = name, at?: number): Entry {
  return { type: 'set', run: 1, name, alarmId, ...(at !== undefined && { at }) }
}

/** Its first delivery, two milliseconds after T. */
export function start(name: string, more: Partial<Start> = {}): Start {
  return {
    type: 'start',
    run: 1,
    at: T + 2,
    name,
    alarmId: name,
    occurrenceId: `${name}-1-${T}`,
    scheduledFor: T,
    attempt: 1,
    willFail: false,
    ...more,
  }
}

/** Its record in the log. */
export function record(alarmId: string, type = 'alarm.fired', more: Partial<LogRecord> = {}): LogRecord {
  return { place: 10, at: T + 5, alarmId, occurrenceId: `${alarmId}-1-${T}`, scheduledFor: T, type, ...more }
}

export const killed = (run: number, logEnd = 0): Entry => ({
  type: 'killed',
  run,
  logEnd,
  inFlight: 1,
  unanswered: 0,
})
/** Its closing process broke it off at the drain bound. */
export const drained = (name: string, attempt = 1): Entry => ({
  type: 'drained',
  run: 1,
  occurrenceId: `${name}-1-${T}`,
  attempt,
})
export const paused = (run: number, logEnd = 0): Entry => ({ type: 'paused', run, logEnd, inFlight: 1 })
export const cancelling = (alarmId: string, at?: number): Entry => ({
  type: 'cancelling',
  run: 1,
  alarmId,
  ...(at !== undefined && { at }),
})
export const cancelled = (
  alarmId: string,
  outcome: 'cancelled' | 'firing' | 'ended' = 'cancelled',
  at?: number,
): Entry => ({ type: 'cancel', run: 1, alarmId, outcome, ...(at !== undefined && { at }) })

/** The user's pause of an alarm, sent and answered, and his resume of it. */
export const parking = (alarmId: string, at: number): Entry => ({ type: 'parking', run: 1, alarmId, at })
export const parked = (alarmId: string, at: number): Entry => ({
  type: 'parked',
  run: 1,
  alarmId,
  outcome: 'parked',
  at,
})
export const unparking = (alarmId: string, at: number): Entry => ({ type: 'unparking', run: 1, alarmId, at })
export const unparked = (alarmId: string, at: number): Entry => ({
  type: 'unparked',
  run: 1,
  alarmId,
  outcome: 'unparked',
  at,
})

/** A delivery of `a`, and its record, at another instant. */
export function startAt(instant: number, more: Partial<Start> = {}): Start {
  return start('a', {
    at: instant + 2,
    scheduledFor: instant,
    occurrenceId: `a-1-${instant}`,
    ...more,
  })
}
export function recordAt(instant: number, type = 'alarm.fired', more: Partial<LogRecord> = {}): LogRecord {
  return record('a', type, {
    at: instant + 5,
    scheduledFor: instant,
    occurrenceId: `a-1-${instant}`,
    ...more,
  })
}

/** An alarm every second, asked for at T; its instants are T + 1 s, T + 2 s, and so on. */
export function every(name: string, count: number, more: Partial<Ask> = {}): Ask {
  const instants = Array.from({ length: count }, (_, i) => T + (i + 1) * 1000)
  return ask(name, { instants, recurs: true, at: T, ...more })
}

/** The third instant of an alarm every second. */
export const third = { scheduledFor: T + 2000, at: T + 2001, occurrenceId: `a-1-${T + 2000}` }

/** Evidence that holds nothing but these parts. */
export function evidence(parts: Partial<Evidence>): Evidence {
  return { entries: [], log: [], effects: [], pending: [], ...parts }
}

/** What the judge says of it. */
export function breaches(parts: Partial<Evidence>): Breach[] {
  return judge(evidence(parts)).violations.map(({ breach }) => breach)
}
