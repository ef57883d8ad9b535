import { backoff, formatInstant, INSTANT_MAX } from '../../time/index.ts'
import {
  type Alarm,
  BLANK_TIMER,
  bucketOf,
  bucketOfAlarm,
  type Change,
  type Context,
  countFailure,
  type EarlyReport,
  type EventDraft,
  edited,
  failedResult,
  isEnd,
  type LifecycleEvent,
  type NewTimer,
  NO_OUTCOME,
  type Outcome,
  recurs,
  type Timer,
  tallyOf,
  transition,
} from '../model/index.ts'
import { deadLetter } from './dead-letter.ts'
import {
  alarmRecord,
  droppedRecords,
  failedRecord,
  firedRecord,
  occurrenceRecord,
  skippedRecord,
} from './event-records.ts'
import { following, mayRunOut, unqueue } from './recurrence.ts'

/** The outcome of one attempt to deliver an occurrence. */
export type DeliveryOutcome =
  | ({ readonly kind: 'delivered' } & Success)
  | ({ readonly kind: 'failed' } & FailedAttempt)
  /**
   * Released by its own engine (a drain), or by a target that accepts nothing before `until`: not counted as an attempt.
   */
  | { readonly kind: 'released'; readonly until?: number }
  /** Its engine died or lost its lease: it may have been delivered, so it counts as an attempt. */
  | { readonly kind: 'lost' }

/** A delivery, with the report that the target gave in its answer. */
interface Success {
  readonly firedAt: number
  readonly endedAt: number
  readonly report: string | null
}

/** A failed attempt. */
export interface FailedAttempt {
  readonly firedAt: number
  readonly endedAt: number
  readonly error: string
  /** The delay that the target asked for (`Retry-After`); 0 means at once. */
  readonly retryAfterMs?: number
  /** The target refuses for good: no retry. */
  readonly final?: boolean
  /** The target no longer exists: no retry, and the alarm is cancelled. */
  readonly gone?: boolean
}

/** A timer with its alarm. `others`, the alarm's other timers, is null on the hot path, where they are not read. */
export interface LoadedTimer {
  readonly alarm: Alarm
  readonly timer: Timer
  readonly others: readonly Timer[] | null
}

/** The longest delay that a target may ask for with `Retry-After`. */
const RETRY_AFTER_MS_MAX = 24 * 3_600_000

/**
 * Decides what an attempt's outcome writes. Returns null where it needs the alarm's other timers: the store then reads
 * them and calls it again, so that the common case reads nothing.
 */
export function settle(loaded: LoadedTimer, delivery: DeliveryOutcome, context: Context): Change | null {
  const { alarm, timer } = loaded
  if (timer.generation !== alarm.generation) return settleSuperseded(loaded, delivery, context)
  if (timer.report !== null) return settleReported(loaded, timer.report, delivery, context)
  switch (delivery.kind) {
    case 'delivered':
      return delivered(loaded, delivery, context)
    case 'failed':
      return failed(loaded, delivery, context)
    case 'released':
      if (alarm.cancelledAt !== null) return dropped(loaded, context)
      return released(alarm, delivery.until === undefined ? timer : postponed(timer, delivery.until))
    case 'lost':
      return alarm.cancelledAt === null ? lost(loaded, context) : dropped(loaded, context)
  }
}

/** The target reported before its delivery was settled: the report is the outcome. */
function settleReported(
  loaded: LoadedTimer,
  report: EarlyReport,
  delivery: DeliveryOutcome,
  context: Context,
) {
  const firedAt = delivery.kind === 'delivered' ? delivery.firedAt : (loaded.timer.startedAt ?? context.now)
  const times = { firedAt, endedAt: context.now }
  if (report.ok) return delivered(loaded, { ...times, report: report.text }, context)
  return failed(loaded, { ...times, error: report.text }, context)
}

function delivered(loaded: LoadedTimer, delivery: Success, context: Context): Change | null {
  const { alarm, timer } = loaded
  const { firedAt, endedAt, report } = delivery
  const startedAt = timer.startedAt ?? firedAt
  const isDone = alarm.ack === 'delivery' || report !== null
  const awaits = !isDone && alarm.cancelledAt === null
  const outcome: Outcome = {
    status: null,
    startedAt,
    lastFiredAt: firedAt,
    completedAt: isDone ? endedAt : null,
    durationMs: isDone ? endedAt - startedAt : null,
    result: report,
    lastError: null,
    failureCount: timer.attempt,
    attempts: timer.attempt + 1,
  }
  // A delivery after a failed report is not recorded again (promise: recorded-once).
  const events = timer.delivered ? [] : [firedRecord(alarm, timer, firedAt, endedAt)]
  if (awaits) {
    const wakeAt = Math.min(context.now + alarm.completionTimeoutMs, INSTANT_MAX)
    return keepOpen(
      loaded,
      { ...openTimer(timer, startedAt), kind: 'report', wakeAt, delivered: true },
      { outcome, events },
      'delivered_unreported',
    )
  }
  if (alarm.ack === 'delivery') return closeOccurrence(loaded, { outcome, events }, 'delivered', context)
  // It was cancelled during its delivery, so no report is awaited.
  if (report === null) return closeOccurrence(loaded, { outcome, events }, 'cancel', context)
  events.push(
    occurrenceRecord('alarm.completed', timer, endedAt, { result: report, duration_ms: endedAt - startedAt }),
  )
  return closeOccurrence(loaded, { outcome, events }, 'reported', context)
}

/** Decides what a failed attempt, or a report of failure, writes: a retry, or the end of the occurrence. */
export function failed(loaded: LoadedTimer, failure: FailedAttempt, context: Context): Change | null {
  const { alarm, timer } = loaded
  const { error } = failure
  const attempt = timer.attempt + 1
  const startedAt = timer.startedAt ?? failure.firedAt
  const summary = { ...NO_OUTCOME, startedAt, lastError: error, failureCount: attempt, attempts: attempt }
  const isOver = attempt >= alarm.maxFailures || failure.final === true || failure.gone === true
  if (!isOver && alarm.cancelledAt === null) {
    const delayMs = retryDelay(alarm, attempt, failure.retryAfterMs, context)
    // If the wall clock was set back, `now` may be before `scheduledFor` again; a retry must not be (promise: never-early).
    const wakeAt = Math.min(Math.max(context.now + delayMs, timer.scheduledFor), INSTANT_MAX)
    const outcome = { ...summary, result: `RETRY: ${error} (attempt ${attempt}/${alarm.maxFailures})` }
    const data = {
      scheduled_for: formatInstant(timer.scheduledFor),
      error,
      attempt,
      retry_at: formatInstant(wakeAt),
    }
    const events = [occurrenceRecord('alarm.attempt_failed', timer, context.now, data)]
    const retry = parkedWhilePaused(alarm, { ...openTimer(timer, startedAt), kind: 'retry', wakeAt, attempt })
    return keepOpen(loaded, retry, { outcome, events }, 'attempt_failed')
  }
  const outcome = { ...summary, result: failedResult(error, attempt) }
  const letter = deadLetter(alarm, timer, error, context)
  const events = [failedRecord(timer, error, attempt, context.now), ...(letter?.events ?? [])]
  const consequences = { outcome, events, ...(letter && { spawn: letter.spawn }) }
  const change =
    failure.gone === true
      ? endTargetGone(loaded, consequences, context)
      : closeOccurrence(loaded, consequences, 'exhausted', context)
  return countFailure(alarm, change, 'failed')
}

/**
 * The target is gone: the alarm is cancelled with this occurrence. Timers of a recurring alarm that are not due yet are removed.
 * Due ones may be in flight: they stay, and the last of them to settle ends the alarm, as after a user's cancel.
 */
function endTargetGone(loaded: LoadedTimer, consequences: Consequences, context: Context): Change | null {
  const { alarm, timer } = loaded
  if (!recurs(alarm)) return end(loaded, consequences, 'target_gone', context)
  if (loaded.others === null) return null
  const others = loaded.others.filter((other) => other.id !== timer.id)
  const isDue = ({ wakeAt }: Timer) => wakeAt !== null && wakeAt <= context.now
  const due = others.filter(isDue)
  const notDue = others.filter((other) => !isDue(other))
  const dropped = droppedRecords(alarm, notDue, 'cancelled', context.now)
  const rest = { ...consequences, events: [...consequences.events, ...dropped] }
  const remove = [timer.id, ...notDue.map(({ id }) => id)]
  if (!due.some((other) => other.generation === alarm.generation))
    return { ...end(loaded, rest, 'target_gone', context), remove }
  return {
    ...rest,
    remove,
    alarm: edited(alarm, context, { cancelledAt: context.now }),
    markEdited: due.map(({ id }) => id),
  }
}

/** Writing the timer raises its version, so that it is no longer part of the in-flight batch. If the alarm was paused meanwhile, it waits for the resume. */
function released(alarm: Alarm, timer: Timer): Change {
  return { update: [{ id: timer.id, ...parkedWhilePaused(alarm, timer) }] }
}

/** `waiting: 'handler'` exempts it from the misfire check, however late its target accepts it. */
function postponed(timer: Timer, until: number): Timer {
  const wakeAt = Math.min(Math.max(wholeMs(until), timer.wakeAt ?? 0), INSTANT_MAX)
  return { ...timer, wakeAt, waiting: 'handler' }
}

/** A target waits by a clock with fractions, and no store takes them in an instant. */
function wholeMs(ms: number): number {
  return Number.isNaN(ms) ? 0 : Math.ceil(ms)
}

/** Makes a timer wait for the resume if its alarm is paused. */
function parkedWhilePaused(alarm: Alarm, timer: NewTimer): NewTimer {
  return alarm.pausedAt === null ? timer : { ...timer, wakeAt: null, waiting: 'paused' }
}

/** It may have been delivered. It is retried at once, as an attempt, so that a handler that kills its process is not retried for ever. */
function lost(loaded: LoadedTimer, context: Context): Change | null {
  const error = 'the process that was delivering it ended before it recorded the outcome'
  return failed(
    loaded,
    { firedAt: loaded.timer.startedAt ?? context.now, endedAt: context.now, error, retryAfterMs: 0 },
    context,
  )
}

function retryDelay(
  alarm: Alarm,
  attempt: number,
  requestedMs: number | undefined,
  context: Context,
): number {
  if (requestedMs === 0) return 0
  const askedMs = Math.min(requestedMs ?? 0, RETRY_AFTER_MS_MAX)
  return Math.max(backoff(attempt, alarm.backoff, context.random()), wholeMs(askedMs))
}

/** The occurrence ends undelivered: it was cancelled while its process died or drained. */
function dropped(loaded: LoadedTimer, context: Context): Change | null {
  const { alarm, timer } = loaded
  // One that was delivered has its record: a failed report led to another attempt (promise: recorded-once).
  const events = timer.delivered ? [] : [skippedRecord(alarm, timer, 'cancelled', context.now)]
  return closeOccurrence(loaded, { events }, 'cancel', context)
}

/** A reschedule replaced this occurrence while it was in flight: only its records are written. */
function settleSuperseded(loaded: LoadedTimer, delivery: DeliveryOutcome, context: Context): Change {
  const { alarm, timer } = loaded
  const remove = [timer.id]
  const report = timer.report ?? reportIn(delivery)
  if (report?.ok === true) {
    const times = delivery.kind === 'delivered' ? delivery : { firedAt: context.now, endedAt: context.now }
    const data = { result: report.text, duration_ms: times.endedAt - (timer.startedAt ?? times.firedAt) }
    const fired = timer.delivered ? [] : [firedRecord(alarm, timer, times.firedAt, times.endedAt)]
    return { remove, events: [...fired, occurrenceRecord('alarm.completed', timer, times.endedAt, data)] }
  }
  // Its delivery is in the log already: a failed report led to this attempt.
  if (timer.delivered) return { remove }
  const error = report?.text ?? (delivery.kind === 'failed' ? delivery.error : undefined)
  if (error !== undefined) {
    const { failure, ...record } = failedRecord(timer, error, timer.attempt + 1, context.now)
    // A one-shot alarm has not failed: it goes on at another time.
    if (!recurs(alarm) || failure === undefined) return { remove, events: [record] }
    return countFailure(alarm, { remove, events: [{ ...record, failure }] }, failure)
  }
  if (delivery.kind === 'delivered')
    return { remove, events: [firedRecord(alarm, timer, delivery.firedAt, delivery.endedAt)] }
  return { remove, events: [skippedRecord(alarm, timer, 'rescheduled', context.now)] }
}

/** The report that a target gave in its answer. */
function reportIn(delivery: DeliveryOutcome): EarlyReport | null {
  if (delivery.kind !== 'delivered' || delivery.report === null) return null
  return { ok: true, text: delivery.report }
}

/** What an occurrence leaves when it ends, or stays open, besides its timer. */
export interface Consequences {
  readonly outcome?: Outcome
  readonly events: readonly EventDraft[]
  readonly spawn?: NonNullable<Change['spawn']>
}

/** The occurrence stays open (retrying, or awaiting its report), beside the alarm's next one. */
function keepOpen(
  loaded: LoadedTimer,
  open: NewTimer,
  consequences: Consequences,
  event: LifecycleEvent,
): Change {
  const { alarm, timer } = loaded
  if (!recurs(alarm)) {
    const from = timer.kind === 'report' ? 'awaiting' : 'active'
    return {
      update: [{ id: timer.id, ...open }],
      ...consequences,
      tally: tallyOf(from, transition(from, event, false), null),
    }
  }
  const after = timer.kind === 'due' ? following(alarm, timer) : null
  if (after === null) return { ...consequences, update: [{ ...open, id: timer.id }] }
  return { ...consequences, update: [{ ...after, id: timer.id }], add: [open] }
}

/** The occurrence has ended: a recurring alarm goes on to its next one, any other ends with it. */
export function closeOccurrence(
  loaded: LoadedTimer,
  consequences: Consequences,
  event: LifecycleEvent,
  context: Context,
): Change | null {
  const { alarm, timer } = loaded
  if (!recurs(alarm)) return end(loaded, consequences, event, context)
  const durationMs = consequences.outcome?.durationMs ?? null
  const rest =
    durationMs === null ? consequences : { ...consequences, tally: { from: null, to: null, durationMs } }
  const after = timer.kind === 'due' && alarm.cancelledAt === null ? following(alarm, timer) : null
  // The spread comes first: V8 then copies a whole shape at once, which saves 0.3 µs per settle.
  if (after !== null) return { ...rest, update: [{ ...after, id: timer.id }] }
  const mustKnowOthers =
    timer.kind === 'due' || mayRunOut(alarm) || alarm.cancelledAt !== null || alarm.overlap === 'queue'
  if (!mustKnowOthers) return { ...rest, remove: [timer.id] }
  if (loaded.others === null) return null
  const live = loaded.others.filter((other) => other.id !== timer.id && other.generation === alarm.generation)
  if (live.length > 0) return { ...rest, remove: [timer.id], update: live.flatMap(unqueue) }
  return end(loaded, consequences, alarm.cancelledAt === null ? 'ran_out' : 'cancel', context)
}

/** The alarm ends with this occurrence. */
function end(
  loaded: LoadedTimer,
  consequences: Consequences,
  event: LifecycleEvent,
  context: Context,
): Change {
  const { alarm, timer } = loaded
  const from = !recurs(alarm) && timer.kind === 'report' ? 'awaiting' : 'active'
  const state = transition(from, event, recurs(alarm))
  const status = isEnd(state) ? state : 'completed'
  const events = [...consequences.events]
  if (status === 'cancelled') events.push(alarmRecord('alarm.cancelled', context.now))
  // A user's cancel has stored its instant already; a target that is gone has not.
  const isNew = status === 'cancelled' && alarm.cancelledAt === null
  const rest = isNew
    ? { ...consequences, alarm: edited(alarm, context, { cancelledAt: context.now }) }
    : consequences
  // Without an outcome, this occurrence leaves the summary of the previous one as it is.
  if (rest.outcome === undefined) {
    return { remove: [timer.id], ...rest, status, events, tally: tallyOf(from, status, null) }
  }
  const outcome = { ...rest.outcome, status }
  const to = bucketOfAlarm(alarm, [], outcome)
  return {
    ...rest,
    remove: [timer.id],
    outcome,
    events,
    tally: { from: bucketOf(from), to, durationMs: outcome.durationMs },
  }
}

function openTimer(timer: NewTimer, startedAt: number): NewTimer {
  const { kind, wakeAt, scheduledFor, tick, generation, attempt, delivered } = timer
  return { ...BLANK_TIMER, kind, wakeAt, scheduledFor, tick, generation, attempt, startedAt, delivered }
}
