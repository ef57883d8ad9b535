import { WakefulError } from '../../error.ts'
import { TIMED_OUT } from '../../seeds/index.ts'
import {
  type Change,
  type Context,
  isEnd,
  NO_OUTCOME,
  occurrenceId,
  recurs,
  type Snapshot,
  stateOf,
  type Timer,
  tallyOf,
} from '../model/index.ts'
import { alarmRecord, occurrenceRecord } from './event-records.ts'
import { close, failed } from './settle.ts'

/** What the target says of an occurrence: done, or failed, in its own words. */
export interface Report {
  readonly ok: boolean
  readonly text: string
  /** Which occurrence; the oldest that awaits its report where none is named. */
  readonly occurrenceId?: string
}

/** Takes in a report: on what awaits one, on what is being delivered right now, or late on what timed out. */
export function report(snapshot: Snapshot, said: Report, context: Context): Change {
  const { alarm, timers } = snapshot
  const awaiting = pick(snapshot, said, (timer) => timer.kind === 'report')
  if (awaiting !== undefined) return reportAwaited(snapshot, awaiting, said, context)
  const flying = pick(snapshot, said, (timer) => snapshot.inFlight.has(timer.id))
  if (flying !== undefined) return reportEarly(flying, said)
  const state = stateOf(alarm, timers, snapshot.outcome)
  if (hasTimedOut(snapshot) && isCurrent(snapshot, said)) return reportLate(snapshot, said, context)
  const verb = said.ok ? 'complete' : 'fail'
  if (isEnd(state)) {
    throw new WakefulError('alarm.ended', { verb, status: state })
  }
  throw new WakefulError(recurs(alarm) ? 'alarm.no_report_awaited' : 'alarm.not_fired', { verb })
}

function pick(snapshot: Snapshot, said: Report, fits: (timer: Timer) => boolean): Timer | undefined {
  const named = (timer: Timer) =>
    said.occurrenceId === undefined || occurrenceId(snapshot.alarm, timer) === said.occurrenceId
  const found = snapshot.timers.filter((timer) => fits(timer) && named(timer))
  return found.sort((a, b) => a.scheduledFor - b.scheduledFor)[0]
}

/** A recurring alarm goes on after one of its occurrences has timed out; its summary remembers. */
function hasTimedOut({ alarm, timers, outcome }: Snapshot): boolean {
  if (recurs(alarm)) return outcome?.status === null && outcome.result === TIMED_OUT
  return stateOf(alarm, timers, outcome) === 'timed_out'
}

/** Whether the report is about the occurrence the alarm ended with, as far as it says. */
function isCurrent({ alarm }: Snapshot, said: Report): boolean {
  return said.occurrenceId === undefined || said.occurrenceId.startsWith(`${alarm.id}-${alarm.generation}-`)
}

function reportAwaited(snapshot: Snapshot, timer: Timer, said: Report, context: Context): Change {
  const { alarm } = snapshot
  const held = { alarm, timer, others: snapshot.timers }
  const startedAt = timer.startedAt ?? timer.scheduledFor
  if (!said.ok)
    return known(failed(held, { firedAt: startedAt, endedAt: context.now, error: said.text }, context))
  const durationMs = context.now - startedAt
  const outcome = {
    ...(snapshot.outcome ?? NO_OUTCOME),
    completedAt: context.now,
    durationMs,
    result: said.text,
    lastError: null,
    failureCount: timer.attempt,
    attempts: timer.attempt + 1,
  }
  const events = [
    occurrenceRecord('alarm.completed', timer, context.now, { result: said.text, duration_ms: durationMs }),
  ]
  return known(close(held, { outcome, events }, 'reported', context))
}

/** The settle of the delivery, which is still to come, will find what was said. */
function reportEarly(timer: Timer, said: Report): Change {
  return { markEdited: [timer.id], reports: [{ id: timer.id, ok: said.ok, text: said.text }] }
}

/** A report after the time-out is kept, and the alarm is what it says. */
function reportLate(snapshot: Snapshot, said: Report, context: Context): Change {
  const { alarm } = snapshot
  const outcome = snapshot.outcome ?? NO_OUTCOME
  const ended = said.ok ? 'completed' : 'failed'
  const durationMs = said.ok && outcome.startedAt !== null ? context.now - outcome.startedAt : null
  const result = said.ok ? said.text : `FAILED: ${said.text} (after ${outcome.attempts} attempts)`
  const data = said.ok
    ? { result: said.text, duration_ms: durationMs, late: true }
    : { error: said.text, late: true }
  return {
    outcome: {
      ...outcome,
      status: recurs(alarm) ? null : ended,
      result,
      completedAt: context.now,
      durationMs,
      lastError: said.ok ? null : said.text,
    },
    events: [alarmRecord(said.ok ? 'alarm.completed' : 'alarm.failed', context.now, data)],
    tally: recurs(alarm) ? { from: null, to: null, durationMs } : tallyOf('timed_out', ended, durationMs),
  }
}

function known(change: Change | null): Change {
  if (change === null)
    throw new WakefulError('internal', { detail: 'A report was decided without the whole snapshot.' })
  return change
}
