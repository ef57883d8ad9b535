import { TIMED_OUT } from '../../seeds/index.ts'
import { countBetween, isOnDayOff, type NextOccurrence, wakeTime, zoneOffsetOf } from '../../time/index.ts'
import {
  type Change,
  type Context,
  FORCED_TICK,
  type NewTimer,
  NO_OUTCOME,
  recurs,
  type SkipReason,
  type Timer,
  type TimerMove,
} from '../model/index.ts'
import { occurrenceRecord, skippedRecord } from './event-records.ts'
import {
  daysOff,
  following,
  lastBefore,
  type MissedRun,
  missedAfter,
  missedFrom,
  moves,
  nthFrom,
  occurrenceAt,
  standingOf,
} from './recurrence.ts'
import { reviewed } from './review.ts'
import { close, type Held, settle } from './settle.ts'

/** What to do with a timer that came due. */
export type Verdict =
  /** Deliver it: as it stands, or as it is after the change that goes with it. */
  | { readonly kind: 'fire'; readonly change?: Change; readonly timer: Timer }
  /** Nothing is delivered: the change is all. */
  | { readonly kind: 'settle'; readonly change: Change }
  /** The alarm's other timers must be looked up first. */
  | { readonly kind: 'look' }
  /** Left as it is, though it is due: whoever takes has no room for it now, and comes back. */
  | { readonly kind: 'pass'; readonly change?: undefined }

/** What a triage knows beside the timer. */
export interface Triage {
  /** Occurrences this late are misfires. */
  readonly graceMs: number
  /** Whether this process can deliver to the alarm's target. */
  readonly canRun: boolean
  /** Whether an operator has paused its tenant or its target. */
  readonly isHeld: boolean
  /** The alarm's occurrences that are still open. */
  readonly openCount: number
}

/** No alarm keeps more occurrences open than this, whatever its overlap policy allows. */
const OPEN_OCCURRENCES_MAX = 100
/** Missed ticks of a calendar rule that are counted one by one; of more, the record says "at least". */
const MISSED_TICKS_MAX = 100_000
const HANDLER_WAIT_MS_MIN = 5_000
const HANDLER_WAIT_MS_MAX = 300_000
/** What is held is put back by whoever lets it go: to look by itself is for those whom that has missed. */
const HOLD_WAIT_MS_MIN = 60_000
const HOLD_WAIT_MS_MAX = 3_600_000

/** Decides what a due timer leads to. Pure, so that every store and the simulator decide alike. */
export function triage(held: Held, facts: Triage, context: Context): Verdict {
  if (held.timer.kind === 'report') return orLook(reportOverdue(held, context))
  if (isGivenUp(held)) return orLook(settle(held, { kind: 'released' }, context))
  // Before it is asked what was missed: after the resume it is as if nobody had looked at all.
  if (facts.isHeld) return waitForOperator(held.timer, context)
  if (held.timer.kind !== 'due') return dispatch(held, facts, context)
  const elsewhere = moveOn(held, context)
  if (elsewhere !== null) return elsewhere
  const missed = misfire(held, facts, context)
  if (missed === null) return dispatch(held, facts, context)
  if (missed.kind !== 'fire') return missed
  // The newest of what was missed meets the same questions as one that came on time.
  return afterMisfire(missed, dispatch({ ...held, timer: missed.timer }, facts, context))
}

/**
 * Whether its user has cancelled, moved or paused it while it was recorded as firing. Who finds it so has not delivered
 * it: the answer to his own take was lost. What is fired by hand fires in a pause, too.
 */
function isGivenUp({ alarm, timer }: Held): boolean {
  if (timer.generation !== alarm.generation || alarm.cancelledAt !== null) return true
  return alarm.pausedAt !== null && timer.tick !== FORCED_TICK
}

function dispatch(held: Held, facts: Triage, context: Context): Verdict {
  const { alarm, timer } = held
  if (timer.kind === 'due' && overlaps(held, facts)) return overlap(held, facts, context)
  if (alarm.target.kind === 'event') {
    const now = context.now
    return orLook(settle(held, { kind: 'delivered', firedAt: now, endedAt: now, report: null }, context))
  }
  if (!facts.canRun) return waitForHandler(timer, context)
  return { kind: 'fire', timer }
}

/** Joins the record of what was missed with what comes of the newest: both are one change to one timer. */
function afterMisfire(missed: Extract<Verdict, { kind: 'fire' }>, verdict: Verdict): Verdict {
  if (verdict.kind === 'look' || verdict.kind === 'pass') return verdict
  if (verdict.kind === 'fire') return missed
  const { id } = missed.timer
  const own = verdict.change.move?.find((move) => move.id === id)
  const others = verdict.change.move?.filter((move) => move.id !== id) ?? []
  const isRemoved = verdict.change.remove?.includes(id) === true
  const moved: TimerMove = { ...missed.change?.move?.[0], ...own, id }
  return {
    kind: 'settle',
    change: {
      ...verdict.change,
      move: isRemoved ? others : [moved, ...others],
      events: [...(missed.change?.events ?? []), ...(verdict.change.events ?? [])],
    },
  }
}

function orLook(change: Change | null): Verdict {
  return change === null ? { kind: 'look' } : { kind: 'settle', change }
}

/** No report came in time: the occurrence ends `timed_out`, whatever it did. */
function reportOverdue(held: Held, context: Context): Change | null {
  const { timer } = held
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
  return close(held, { outcome, events }, 'report_overdue', context)
}

/**
 * What comes due at another time by now (its zone's data or a calendar changed) goes there. The days off that a rule
 * skipped on its way here are told in one record; what follows them is due at once, or, where the rule ended on a day
 * off, nothing is.
 */
function moveOn(held: Held, context: Context): Verdict | null {
  const { alarm, timer } = held
  const moved = reviewed(alarm, timer, context)
  if (moved !== null) return { kind: 'settle', change: moved }
  const { rule } = alarm
  if (rule.kind === 'once' || rule.exclude === undefined || moves(rule)) return null
  const from = timer.nominal ?? timer.scheduledFor
  const isOff = isOnDayOff(rule, daysOff(alarm), timer.scheduledFor)
  if (!isOff && timer.nominal === null) return null
  const until = isOff ? timer.scheduledFor : timer.scheduledFor - 1
  const { count, last, exact } = countBetween(rule, from - 1, until, MISSED_TICKS_MAX)
  if (last === null) return null
  const first = { ...timer, scheduledFor: from, nominal: null }
  const run = { to: { at: last, nominal: last }, count, exact }
  if (isOff) return orLook(skipRun({ ...held, timer: first }, run, 'holiday', context))
  const events = [skippedRecord(alarm, first, 'holiday', context.now, { ...run, to: last })]
  const zoneOffset = zoneOffsetOf(rule, timer.scheduledFor)
  const move = [{ id: timer.id, nominal: null, zoneOffset, floor: last, tick: timer.tick + count }]
  return { kind: 'settle', change: { move, events } }
}

/** An instant that passed unseen by more than the grace: fires the newest missed one, or none. */
function misfire(held: Held, facts: Triage, context: Context): Verdict | null {
  const { alarm, timer } = held
  const policy = alarm.rule.misfire ?? 'once'
  const late = context.now - wakeTime(alarm.rule, alarm.id, timer.scheduledFor) > facts.graceMs
  // What waited for a reason of its own (a pause, a handler, an earlier occurrence) was not missed; what was held is.
  if (!late || (timer.waiting !== null && timer.waiting !== 'operator_pause')) return null
  if (!recurs(alarm)) return policy === 'skip' ? orLook(missedOnce(held, context)) : null
  const run = missedAfter(alarm, timer, context.now, MISSED_TICKS_MAX)
  if (policy === 'once') return run.count === 0 ? null : fireNewest(held, run, context)
  if (policy !== 'skip') return catchUp(held, run, policy.all, context)
  return orLook(
    skipRun(
      held,
      { to: run.last ?? standingOf(timer), count: run.count + 1, exact: run.exact },
      'misfire',
      context,
    ),
  )
}

/** All that was missed fires, one after the other: what is too old, or too many, is skipped first. */
function catchUp(
  held: Held,
  run: MissedRun,
  bound: { max: number; withinMs: number },
  context: Context,
): Verdict | null {
  const { alarm, timer } = held
  const tooOld = missedFrom(alarm, timer, context.now - bound.withinMs - 1, MISSED_TICKS_MAX)
  // Age is counted on the calendar, which knows nothing of the rule's own count: no more than were missed are dropped.
  const dropped = Math.min(run.count + 1, Math.max(tooOld.count, run.count + 1 - bound.max))
  if (dropped <= 0) return null
  const to =
    dropped === tooOld.count && tooOld.last !== null
      ? tooOld.last
      : nthFrom(alarm, timer, dropped, context.now)
  return orLook(skipRun(held, { to, count: dropped, exact: run.exact && tooOld.exact }, 'misfire', context))
}

function fireNewest(held: Held, run: MissedRun, context: Context): Verdict {
  const { alarm, timer } = held
  const newest = occurrenceAt(alarm, run.last ?? standingOf(timer), timer.tick + run.count, timer.floor)
  const to = lastBefore(alarm, timer, run, newest.scheduledFor)
  const skipped = { to, count: run.count, exact: run.exact }
  return {
    kind: 'fire',
    timer: { ...timer, ...newest, version: timer.version + 1 },
    change: {
      move: [{ id: timer.id, ...newest }],
      events: [skippedRecord(alarm, timer, 'misfire', context.now, skipped)],
    },
  }
}

interface SkippedRun {
  readonly to: NextOccurrence
  readonly count: number
  readonly exact: boolean
}

/** A run of occurrences is skipped: the alarm goes on after it, or has run out. */
function skipRun(held: Held, run: SkippedRun, reason: SkipReason, context: Context): Change | null {
  const { alarm, timer } = held
  const { at, nominal } = run.to
  const last: NewTimer = { ...timer, scheduledFor: at, nominal, tick: timer.tick + run.count - 1 }
  const events = [skippedRecord(alarm, timer, reason, context.now, { ...run, to: at })]
  const after = following(alarm, last)
  if (after !== null) return { move: [{ id: timer.id, ...after }], events }
  return close({ ...held, timer: { ...timer, ...last } }, { events }, 'missed', context)
}

function missedOnce(held: Held, context: Context): Change | null {
  const error = `missed: it was due ${context.now - held.timer.scheduledFor} ms before anyone looked, and its misfire policy is skip`
  const events = [skippedRecord(held.alarm, held.timer, 'misfire', context.now)]
  const outcome = {
    ...NO_OUTCOME,
    completedAt: context.now,
    lastError: error,
    result: `FAILED: ${error} (after 0 attempts)`,
  }
  return close(held, { events, outcome }, 'missed', context)
}

function overlaps(held: Held, facts: Triage): boolean {
  if (!recurs(held.alarm) || facts.openCount === 0) return false
  if (facts.openCount >= OPEN_OCCURRENCES_MAX) return true
  return held.alarm.ack === 'report' && held.alarm.overlap !== 'allow'
}

/** An earlier occurrence is still open: this one is skipped, or waits until that one ends. */
function overlap(held: Held, facts: Triage, context: Context): Verdict {
  const { alarm, timer } = held
  if (alarm.overlap === 'queue' && facts.openCount < OPEN_OCCURRENCES_MAX) {
    return { kind: 'settle', change: { move: [{ id: timer.id, wakeAt: null, waiting: 'overlap' }] } }
  }
  return orLook(
    close(held, { events: [skippedRecord(alarm, timer, 'overlap', context.now)] }, 'missed', context),
  )
}

/** Nobody here has this handler: look again later, ever less often, without counting it as an attempt. */
function waitForHandler(timer: Timer, context: Context): Verdict {
  const late = context.now - timer.scheduledFor
  const wait = Math.min(HANDLER_WAIT_MS_MAX, Math.max(HANDLER_WAIT_MS_MIN, late))
  return {
    kind: 'settle',
    change: { move: [{ id: timer.id, wakeAt: context.now + wait, waiting: 'handler' }] },
  }
}

/** An operator holds it: it waits, uncounted. Spread, for a million may be held in one moment. */
function waitForOperator(timer: Timer, context: Context): Verdict {
  const late = context.now - timer.scheduledFor
  const wait = Math.min(HOLD_WAIT_MS_MAX, Math.max(HOLD_WAIT_MS_MIN, late))
  const wakeAt = context.now + wait + Math.floor(context.random() * wait)
  return { kind: 'settle', change: { move: [{ id: timer.id, wakeAt, waiting: 'operator_pause' }] } }
}
