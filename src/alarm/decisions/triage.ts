import { TIMED_OUT } from '../../seeds/index.ts'
import { isOnDayOff, wakeTime, zoneOffsetOf } from '../../time/index.ts'
import {
  type Change,
  type Context,
  daysOff,
  FORCED_TICK,
  failedResult,
  movesToWorkingDay,
  type NewTimer,
  NO_OUTCOME,
  occurrenceAt,
  recurs,
  type SkipReason,
  type Timer,
  type TimerUpdate,
  type Waiting,
} from '../model/index.ts'
import { occurrenceRecord, skippedRecord } from './event-records.ts'
import {
  daysOffRange,
  following,
  missedRange,
  moveIfInstantChanged,
  nthFrom,
  type OccurrenceRange,
  secondToLast,
} from './recurrence.ts'
import { type Consequences, closeOccurrence, type LoadedTimer, settle } from './settle.ts'

/** What to do with a timer that came due. */
export type Decision =
  /** Deliver `timer`; a change comes with it where missed occurrences are skipped first. */
  | { readonly kind: 'fire'; readonly change?: Change; readonly timer: Timer }
  /** Write the change; nothing is delivered. */
  | { readonly kind: 'settle'; readonly change: Change }
  /** Decide again with the alarm's other timers. */
  | { readonly kind: 'needs_timers' }
  /** Leave it due: a limit has no free slot for it now. */
  | { readonly kind: 'leave_due'; readonly change?: undefined }

/** What a triage knows besides the timer. */
export interface TriageFacts {
  /** Whether this process can deliver to the alarm's target. */
  readonly canRun: boolean
  /** Whether an operator has paused its tenant or its target. */
  readonly isPaused: boolean
  /** The alarm's occurrences that are still open. */
  readonly openCount: number
}

/** No alarm keeps more occurrences open than this, whatever its overlap policy allows. */
const OPEN_OCCURRENCES_MAX = 100
const HANDLER_WAIT_MS_MIN = 5_000
const HANDLER_WAIT_MS_MAX = 300_000
/** A resume requeues the paused timers. These waits are only a backstop for timers that it misses. */
const PAUSE_WAIT_MS_MIN = 60_000
const PAUSE_WAIT_MS_MAX = 3_600_000

/** Decides what a due timer leads to. Pure, so that every store and the simulator decide alike. */
export function triage(loaded: LoadedTimer, facts: TriageFacts, context: Context): Decision {
  if (loaded.timer.kind === 'report') return reportOverdue(loaded, context)
  if (isAbandoned(loaded)) return settleOrLookUp(settle(loaded, { kind: 'released' }, context))
  // Before the misfire check: what a pause makes late is judged after the resume.
  if (facts.isPaused) return waitForResume(loaded.timer, context)
  if (loaded.timer.kind !== 'due') return dispatch(loaded, facts, context)
  const elsewhere = moveChanged(loaded, context)
  if (elsewhere !== null) return elsewhere
  const missed = misfire(loaded, context)
  if (missed === null) return dispatch(loaded, facts, context)
  if (missed.kind !== 'fire') return missed
  // The newest missed occurrence is dispatched like one that came on time.
  return afterMisfire(missed, dispatch({ ...loaded, timer: missed.timer }, facts, context))
}

/**
 * Whether a user has cancelled, moved or paused it since an earlier claim of this timer. That claim was committed, but its
 * process never got the answer, so nothing was delivered. An occurrence fired by hand also fires during a pause.
 */
function isAbandoned({ alarm, timer }: LoadedTimer): boolean {
  if (timer.generation !== alarm.generation || alarm.cancelledAt !== null) return true
  return alarm.pausedAt !== null && timer.tick !== FORCED_TICK
}

function dispatch(loaded: LoadedTimer, facts: TriageFacts, context: Context): Decision {
  const { alarm, timer } = loaded
  if (timer.kind === 'due' && overlaps(loaded, facts)) return overlap(loaded, facts, context)
  if (alarm.target.kind === 'event') {
    const { now } = context
    const delivery = { kind: 'delivered', firedAt: now, endedAt: now, report: null } as const
    return settleOrLookUp(settle(loaded, delivery, context))
  }
  if (!facts.canRun) return waitForHandler(timer, context)
  return { kind: 'fire', timer }
}

/** Joins the record of the missed occurrences with the decision on the newest: both change the same timer. */
function afterMisfire(missed: Extract<Decision, { kind: 'fire' }>, decision: Decision): Decision {
  if (decision.kind === 'needs_timers' || decision.kind === 'leave_due') return decision
  if (decision.kind === 'fire') return missed
  const { id } = missed.timer
  const own = decision.change.update?.find((move) => move.id === id)
  const others = decision.change.update?.filter((move) => move.id !== id) ?? []
  const isRemoved = decision.change.remove?.includes(id) === true
  const moved: TimerUpdate = { ...missed.change?.update?.[0], ...own, id }
  return {
    kind: 'settle',
    change: {
      ...decision.change,
      update: isRemoved ? others : [moved, ...others],
      events: [...(missed.change?.events ?? []), ...(decision.change.events ?? [])],
    },
  }
}

function settleOrLookUp(change: Change | null): Decision {
  return change === null ? { kind: 'needs_timers' } : { kind: 'settle', change }
}

/** No report came in time: the occurrence ends `timed_out`. */
function reportOverdue(loaded: LoadedTimer, context: Context): Decision {
  const { timer } = loaded
  const attempts = timer.attempt + 1
  const outcome = {
    ...NO_OUTCOME,
    startedAt: timer.startedAt,
    lastFiredAt: timer.startedAt,
    result: TIMED_OUT,
    lastError: 'no report came in time',
    failureCount: attempts,
    attempts,
  }
  const events = [occurrenceRecord('alarm.timed_out', timer, context.now, { attempts })]
  return settleOrLookUp(closeOccurrence(loaded, { outcome, events }, 'report_overdue', context))
}

/**
 * Moves a timer whose instant has changed since it was set, because of new zone data or an edited calendar. Else, if the rule
 * skipped days off before this instant, records them. If the instant itself is a day off now, goes on to the next one, or ends
 * the alarm if there is none.
 */
function moveChanged(loaded: LoadedTimer, context: Context): Decision | null {
  const { alarm, timer } = loaded
  const moved = moveIfInstantChanged(alarm, timer, context)
  if (moved !== null) return { kind: 'settle', change: moved }
  const { rule } = alarm
  if (rule.kind === 'once' || rule.exclude === undefined || movesToWorkingDay(rule)) return null
  const isOff = isOnDayOff(rule, daysOff(alarm), timer.scheduledFor)
  if (!isOff && timer.nominal === null) return null
  const until = isOff ? timer.scheduledFor : timer.scheduledFor - 1
  const range = daysOffRange(alarm, timer, until)
  if (range === null) return null
  if (isOff) return skipRange({ ...loaded, timer: range.first }, range, 'holiday', context)
  const events = [skippedRecord(alarm, range.first, 'holiday', context.now, range)]
  const zoneOffset = zoneOffsetOf(rule, timer.scheduledFor)
  const move = [
    { id: timer.id, nominal: null, zoneOffset, floor: range.last.at, tick: timer.tick + range.count },
  ]
  return { kind: 'settle', change: { update: move, events } }
}

/** Applies the misfire policy to an instant that is late by more than the grace. */
function misfire(loaded: LoadedTimer, context: Context): Decision | null {
  const { alarm, timer } = loaded
  const policy = alarm.rule.misfire ?? 'once'
  const late = context.now - wakeTime(alarm.rule, alarm.id, timer.scheduledFor) > context.graceMs
  // A timer that waited for a pause of its alarm, a handler or an earlier occurrence is no misfire. After an operator's pause it can be one.
  if (!late || (timer.waiting !== null && timer.waiting !== 'operator_pause')) return null
  if (!recurs(alarm)) return policy === 'skip' ? skipMissedOneShot(loaded, context) : null
  const range = missedRange(alarm, timer, context.now)
  if (policy === 'once') return range.count === 1 ? null : fireNewest(loaded, range, context)
  if (policy === 'skip') return skipRange(loaded, range, 'misfire', context)
  return catchUp(loaded, range, policy.all, context)
}

/** Fires all missed occurrences, one after the other, after those that are too old or too many are skipped. */
function catchUp(
  loaded: LoadedTimer,
  range: OccurrenceRange,
  bound: { max: number; withinMs: number },
  context: Context,
): Decision | null {
  const { alarm, timer } = loaded
  const oldest = context.now - bound.withinMs
  const tooOld = timer.scheduledFor < oldest ? missedRange(alarm, timer, oldest - 1) : null
  // `tooOld.count` ignores the rule's `count` and may be too high, so it is limited to the number missed.
  const count = Math.min(range.count, Math.max(tooOld?.count ?? 0, range.count - bound.max))
  if (count <= 0) return null
  const last = count === tooOld?.count ? tooOld.last : nthFrom(alarm, timer, count, context.now)
  return skipRange(loaded, { last, count, exact: range.exact && tooOld?.exact !== false }, 'misfire', context)
}

function fireNewest({ alarm, timer }: LoadedTimer, range: OccurrenceRange, context: Context): Decision {
  const newest = occurrenceAt(alarm, range.last, timer.tick + range.count - 1, timer.floor)
  const skipped = { last: secondToLast(alarm, timer, range), count: range.count - 1, exact: range.exact }
  return {
    kind: 'fire',
    timer: { ...timer, ...newest, version: timer.version + 1 },
    change: {
      update: [{ id: timer.id, ...newest }],
      events: [skippedRecord(alarm, timer, 'misfire', context.now, skipped)],
    },
  }
}

/** Skips a range of occurrences: the alarm goes on after it, or has run out. */
function skipRange(
  loaded: LoadedTimer,
  range: OccurrenceRange,
  reason: SkipReason,
  context: Context,
): Decision {
  const { alarm, timer } = loaded
  const { at, nominal } = range.last
  const last: NewTimer = { ...timer, scheduledFor: at, nominal, tick: timer.tick + range.count - 1 }
  const events = [skippedRecord(alarm, timer, reason, context.now, range)]
  const after = following(alarm, last)
  if (after !== null) return { kind: 'settle', change: { update: [{ id: timer.id, ...after }], events } }
  return closeMissed({ ...loaded, timer: { ...timer, ...last } }, { events }, context)
}

function skipMissedOneShot(loaded: LoadedTimer, context: Context): Decision {
  const error = `missed: it was due ${context.now - loaded.timer.scheduledFor} ms earlier than it was found, and its misfire policy is skip`
  const events = [skippedRecord(loaded.alarm, loaded.timer, 'misfire', context.now)]
  const outcome = {
    ...NO_OUTCOME,
    completedAt: context.now,
    lastError: error,
    result: failedResult(error, 0),
  }
  return closeMissed(loaded, { events, outcome }, context)
}

function closeMissed(loaded: LoadedTimer, consequences: Consequences, context: Context): Decision {
  return settleOrLookUp(closeOccurrence(loaded, consequences, 'missed', context))
}

function overlaps(loaded: LoadedTimer, facts: TriageFacts): boolean {
  if (!recurs(loaded.alarm) || facts.openCount === 0) return false
  if (facts.openCount >= OPEN_OCCURRENCES_MAX) return true
  return loaded.alarm.ack === 'report' && loaded.alarm.overlap !== 'allow'
}

/** An earlier occurrence is still open: skip this one, or queue it until that one ends. */
function overlap(loaded: LoadedTimer, facts: TriageFacts, context: Context): Decision {
  const { alarm, timer } = loaded
  if (alarm.overlap === 'queue' && facts.openCount < OPEN_OCCURRENCES_MAX) {
    return wait(timer, null, 'overlap')
  }
  return closeMissed(loaded, { events: [skippedRecord(alarm, timer, 'overlap', context.now)] }, context)
}

/** This process has no such handler: check again later, less and less often, without counting an attempt. */
function waitForHandler(timer: Timer, context: Context): Decision {
  const waitMs = asLongAgain(timer, context, HANDLER_WAIT_MS_MIN, HANDLER_WAIT_MS_MAX)
  return wait(timer, context.now + waitMs, 'handler')
}

/** Paused by an operator: it waits, without counting an attempt. The wait is random because a million may be paused at once. */
function waitForResume(timer: Timer, context: Context): Decision {
  const waitMs = asLongAgain(timer, context, PAUSE_WAIT_MS_MIN, PAUSE_WAIT_MS_MAX)
  return wait(timer, context.now + waitMs + Math.floor(context.random() * waitMs), 'operator_pause')
}

/** As long as it has waited already, within bounds. */
function asLongAgain(timer: Timer, { now }: Context, minMs: number, maxMs: number): number {
  return Math.min(maxMs, Math.max(minMs, now - timer.scheduledFor))
}

function wait({ id }: Timer, wakeAt: number | null, waiting: Waiting): Decision {
  return { kind: 'settle', change: { update: [{ id, wakeAt, waiting }] } }
}
