import type { Breach } from './breach.ts'
import type { Ask, Entry, Start } from './entries.ts'
import type { Evidence, LogRecord } from './evidence.ts'
import { judge } from './judge.ts'

/** The instant at which alarms in handwritten evidence are due. */
export const T = 1_800_000_000_000

/** A request for one alarm at T. */
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

/** The answer to the request. */
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
  return {
    position: 10,
    at: T + 5,
    alarmId,
    occurrenceId: `${alarmId}-1-${T}`,
    scheduledFor: T,
    type,
    ...more,
  }
}

export const killed = (run: number, logEnd = 0): Entry => ({
  type: 'killed',
  run,
  logEnd,
  inFlight: 1,
  unanswered: 0,
})
/** The closing process aborted the delivery at the drain bound. */
export const drained = (name: string, attempt = 1): Entry => ({
  type: 'drained',
  run: 1,
  occurrenceId: `${name}-1-${T}`,
  attempt,
})
export const processPaused = (run: number, logEnd = 0): Entry => ({
  type: 'process_paused',
  run,
  logEnd,
  inFlight: 1,
})
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

/** A user's pause and resume of an alarm, sent and answered. */
export const pausing = (alarmId: string, at: number): Entry => ({ type: 'pausing', run: 1, alarmId, at })
export const paused = (alarmId: string, at: number): Entry => ({
  type: 'paused',
  run: 1,
  alarmId,
  outcome: 'paused',
  at,
})
export const resuming = (alarmId: string, at: number): Entry => ({ type: 'resuming', run: 1, alarmId, at })
export const resumed = (alarmId: string, at: number): Entry => ({
  type: 'resumed',
  run: 1,
  alarmId,
  outcome: 'resumed',
  at,
})

/** A delivery of `a` and its record, at another instant. */
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

/** An alarm every second, requested at T. Its instants are T + 1 s, T + 2 s, and so on. */
export function every(name: string, count: number, more: Partial<Ask> = {}): Ask {
  const instants = Array.from({ length: count }, (_, i) => T + (i + 1) * 1000)
  return ask(name, { instants, recurs: true, at: T, ...more })
}

/** The third instant of an alarm every second. */
export const third = { scheduledFor: T + 2000, at: T + 2001, occurrenceId: `a-1-${T + 2000}` }

/** Evidence with only these parts. */
export function evidence(parts: Partial<Evidence>): Evidence {
  return { entries: [], log: [], effects: [], pending: [], ...parts }
}

/** The kinds of violation the judge finds. */
export function breaches(parts: Partial<Evidence>): Breach[] {
  return judge(evidence(parts)).violations.map(({ breach }) => breach)
}
