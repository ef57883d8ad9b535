import { display, WakefulError } from '../../error.ts'
import { TIMED_OUT } from '../../seeds/index.ts'
import {
  type Alarm,
  type Change,
  type Context,
  type EarlyReport,
  failedResult,
  isEnd,
  NO_OUTCOME,
  type Outcome,
  occurrenceId,
  recurs,
  type Snapshot,
  stateOf,
  type Timer,
  tallyOf,
} from '../model/index.ts'
import { alarmRecord, occurrenceRecord } from './event-records.ts'
import { closeOccurrence, failed } from './settle.ts'

/** A target's report on an occurrence: completed, or failed, with its text. */
export interface Report extends EarlyReport {
  /** Default: the oldest occurrence that awaits its report. */
  readonly occurrenceId?: string
}

/** Accepts a report for an occurrence that awaits one, is in flight, or has timed out. */
export function report(snapshot: Snapshot, reported: Report, context: Context): Change {
  const { alarm, timers } = snapshot
  const awaiting = pick(snapshot, reported, (timer) => timer.kind === 'report')
  if (awaiting !== undefined) return reportAwaited(snapshot, awaiting, reported, context)
  const firing = pick(snapshot, reported, (timer) => snapshot.inFlight.has(timer.id))
  const verb = reported.ok ? 'complete' : 'fail'
  if (firing !== undefined && firing.report === null) return reportEarly(firing, reported)
  if (firing !== undefined) throw new WakefulError('alarm.no_report_awaited', { verb })
  const state = stateOf(alarm, timers, snapshot.outcome)
  const { occurrenceId: named } = reported
  if (named === undefined ? hasTimedOut(snapshot) : snapshot.timedOut !== undefined)
    return reportLate(snapshot, reported, context)
  if (isEnd(state) && state !== 'timed_out') {
    throw new WakefulError('alarm.ended', { verb, status: state })
  }
  if (named !== undefined && !mayHaveBeen(named, alarm))
    throw new WakefulError('alarm.no_such_occurrence', { verb, occurrence: display(named) })
  const isOpen = pick(snapshot, reported, () => true) !== undefined
  throw new WakefulError(recurs(alarm) || !isOpen ? 'alarm.no_report_awaited' : 'alarm.not_fired', { verb })
}

function pick(snapshot: Snapshot, reported: Report, fits: (timer: Timer) => boolean): Timer | undefined {
  const isNamed = (timer: Timer) =>
    reported.occurrenceId === undefined || occurrenceId(snapshot.alarm, timer) === reported.occurrenceId
  const found = snapshot.timers.filter((timer) => fits(timer) && isNamed(timer))
  return found.sort((a, b) => a.scheduledFor - b.scheduledFor)[0]
}

/**
 * A recurring alarm stays active after an occurrence has timed out, so only its outcome tells. `completedAt` distinguishes
 * it from an occurrence that was completed with the same text as its result.
 */
function hasTimedOut({ alarm, timers, outcome }: Snapshot): boolean {
  if (recurs(alarm))
    return outcome?.status === null && outcome.completedAt === null && outcome.result === TIMED_OUT
  return stateOf(alarm, timers, outcome) === 'timed_out'
}

/**
 * Whether this may be the id of an occurrence that has ended: then a report on it comes twice, or too late. Its instant tells
 * nothing: the clock of another process may be ahead.
 */
function mayHaveBeen(named: string, { id, generation }: Alarm): boolean {
  const found = named.startsWith(`${id}-`) ? /^(\d+)-\d+(?:-forced)?$/.exec(named.slice(id.length + 1)) : null
  return found !== null && Number(found[1]) <= generation
}

function reportAwaited(snapshot: Snapshot, timer: Timer, reported: Report, context: Context): Change {
  const { alarm } = snapshot
  const loaded = { alarm, timer, others: snapshot.timers }
  const startedAt = timer.startedAt ?? timer.scheduledFor
  if (!reported.ok)
    return assertDecided(
      failed(loaded, { firedAt: startedAt, endedAt: context.now, error: reported.text }, context),
    )
  const durationMs = context.now - startedAt
  const outcome = {
    ...(snapshot.outcome ?? NO_OUTCOME),
    completedAt: context.now,
    durationMs,
    result: reported.text,
    lastError: null,
    failureCount: timer.attempt,
    attempts: timer.attempt + 1,
  }
  const events = [
    occurrenceRecord('alarm.completed', timer, context.now, {
      result: reported.text,
      duration_ms: durationMs,
    }),
  ]
  return assertDecided(closeOccurrence(loaded, { outcome, events }, 'reported', context))
}

/** Stores a report on a delivery that is not settled yet. Marking the timer as edited makes the settle read it again. */
function reportEarly(timer: Timer, reported: Report): Change {
  return { markEdited: [timer.id], reports: [{ id: timer.id, ok: reported.ok, text: reported.text }] }
}

/** A report after the timeout. It replaces the outcome, unless a later occurrence has one. */
function reportLate(snapshot: Snapshot, reported: Report, context: Context): Change {
  const { alarm, timedOut } = snapshot
  const isNewest = hasTimedOut(snapshot) && timedOut?.isNewest !== false
  const outcome = (isNewest ? snapshot.outcome : null) ?? NO_OUTCOME
  const ended = reported.ok ? 'completed' : 'failed'
  const durationMs = reported.ok && outcome.startedAt !== null ? context.now - outcome.startedAt : null
  const result = reported.ok ? reported.text : failedResult(reported.text, outcome.attempts)
  // A record about the alarm: the occurrence has its own record of how it ended, the time-out.
  const late = { late: true, ...(timedOut && { occurrence_id: `${alarm.id}-${timedOut.occurrence}` }) }
  const data = reported.ok
    ? { result: reported.text, duration_ms: durationMs, ...late }
    : { error: reported.text, ...late }
  const replaced: Outcome = {
    ...outcome,
    status: recurs(alarm) ? null : ended,
    result,
    completedAt: reported.ok ? context.now : null,
    durationMs,
    lastError: reported.ok ? null : reported.text,
    // The timeout counted the last attempt as a failure, which it was not.
    failureCount: reported.ok ? outcome.attempts - 1 : outcome.failureCount,
  }
  return {
    ...(isNewest && { outcome: replaced }),
    events: [alarmRecord(reported.ok ? 'alarm.completed' : 'alarm.failed', context.now, data)],
    ...(timedOut !== undefined && { restates: timedOut.occurrence }),
    // A recurring alarm keeps its status: only its occurrence, which was counted as timed out, is counted as what it is now.
    tally: recurs(alarm)
      ? { from: 'timed_out', to: reported.ok ? null : 'failed', durationMs }
      : tallyOf('timed_out', ended, durationMs),
  }
}

/** A decision is null only if the alarm's other timers were not loaded. */
function assertDecided(change: Change | null): Change {
  if (change === null) throw new Error('a report was decided without the whole snapshot')
  return change
}
