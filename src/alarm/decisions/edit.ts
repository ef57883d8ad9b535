import { WakefulError } from '../../error.ts'
import { countBetween, formatInstant, occurrenceAfter, wakeTime } from '../../time/index.ts'
import {
  type Alarm,
  bucketOf,
  type Change,
  type Context,
  FORCED_TICK,
  type LifecycleEvent,
  type NewTimer,
  NO_OUTCOME,
  recurs,
  type Serial,
  type Snapshot,
  type State,
  stateOf,
  type Timer,
  type TimerMove,
  tallyOf,
  timerAt,
  transition,
} from '../model/index.ts'
import { alarmRecord, skippedRecord } from './event-records.ts'
import {
  type Beginning,
  daysOff,
  firstTimer,
  following,
  missedAfter,
  moves,
  occurrenceAt,
  standingOf,
  unqueue,
} from './recurrence.ts'

/** What a cancel came to: it won, it came while an occurrence was firing, or the alarm had ended. */
export type CancelOutcome = 'cancelled' | 'firing' | 'ended'

/** Missed ticks counted when a paused alarm resumes; a longer pause is told as "at least". */
const PAUSED_TICKS_MAX = 100_000

/** Cancels the alarm, or tells that it is too late for the occurrence that is firing (promise: cancel-wins). */
export function cancel(snapshot: Snapshot, context: Context): { change: Change; outcome: CancelOutcome } {
  const { alarm, timers } = snapshot
  const state = stateOf(alarm, timers, snapshot.outcome)
  const to = move(snapshot, 'cancel')
  if (to === state) return { change: {}, outcome: 'ended' }
  const flying = timers.filter((timer) => snapshot.inFlight.has(timer.id))
  const others = timers.filter((timer) => !snapshot.inFlight.has(timer.id))
  const remove = others.map((timer) => timer.id)
  // An occurrence that was tried and will not be again must still end as one record (promise: recorded-once).
  const dropped = others.filter((timer) => timer.kind === 'retry' && !timer.delivered)
  const events = dropped.map((timer) => skippedRecord(alarm, timer, 'cancelled', context.now))
  if (flying.some((timer) => timer.generation === alarm.generation)) {
    const change = {
      remove,
      events,
      alarm: edited(alarm, context, { cancelledAt: context.now }),
      markEdited: ids(flying),
    }
    return { change, outcome: 'firing' }
  }
  events.push(alarmRecord('alarm.cancelled', context.now))
  const outcome = { ...(snapshot.outcome ?? NO_OUTCOME), status: 'cancelled' as const }
  const change = { remove, events, outcome, tally: tallyOf(state, to, null) }
  // One that a reschedule superseded may still be about to start: the alarm ends, but the cancel has not won over it.
  return { change, outcome: flying.length > 0 ? 'firing' : 'cancelled' }
}

/** Parks the alarm until it is resumed. */
export function pause(snapshot: Snapshot, context: Context): Change {
  const { alarm, timers } = snapshot
  move(snapshot, 'pause')
  if (alarm.pausedAt !== null) return {}
  if (!recurs(alarm)) refuseInFlight(snapshot, 'pause')
  const resting = timers.filter((timer) => !snapshot.inFlight.has(timer.id) && timer.kind !== 'report')
  return {
    alarm: edited(alarm, context, { pausedAt: context.now }),
    move: resting.map((timer) => ({ id: timer.id, wakeAt: null, waiting: 'paused' as const })),
    markEdited: flying(snapshot),
    events: [alarmRecord('alarm.paused', context.now)],
  }
}

/** Lets a paused alarm go on: a once alarm at its instant or at once, a recurring one after the ticks it missed. */
export function resume(snapshot: Snapshot, context: Context): Change {
  const { alarm, timers } = snapshot
  move(snapshot, 'resume')
  if (alarm.pausedAt === null) return {}
  const running = edited(alarm, context, { pausedAt: null })
  const events = [alarmRecord('alarm.resumed', context.now)]
  const moves: TimerMove[] = []
  const remove: Serial[] = []
  for (const timer of timers) {
    if (timer.waiting !== 'paused') continue
    if (timer.kind !== 'due') {
      moves.push({ id: timer.id, wakeAt: Math.max(context.now, timer.scheduledFor), waiting: null })
      continue
    }
    if (!recurs(alarm) || timer.scheduledFor > context.now) {
      // What its pause made late was not missed; from here on it can be.
      const waiting = timer.scheduledFor > context.now ? null : timer.waiting
      moves.push({ id: timer.id, wakeAt: wakeTime(alarm.rule, alarm.id, timer.scheduledFor), waiting })
      continue
    }
    const from = fromFirstSkipped(alarm, timer)
    const run = missedAfter(alarm, from, context.now, PAUSED_TICKS_MAX)
    const { at, nominal } = run.last ?? standingOf(from)
    const count = run.count + 1
    events.push(skippedRecord(alarm, from, 'paused', context.now, { to: at, count, exact: run.exact }))
    const after = following(running, { ...from, scheduledFor: at, nominal, tick: from.tick + count - 1 })
    if (after === null) remove.push(timer.id)
    else moves.push({ id: timer.id, ...after })
  }
  const change = { alarm: running, move: moves, remove, events, markEdited: flying(snapshot) }
  return timers.length > remove.length ? change : { ...change, ...ranOut(snapshot) }
}

/** Leaves out the next occurrence of a recurring alarm. */
export function skipNext(snapshot: Snapshot, context: Context): Change {
  const { alarm } = snapshot
  move(snapshot, 'skip_next')
  if (!recurs(alarm)) {
    throw new WakefulError('alarm.single_occurrence', {})
  }
  const due = dueTimer(snapshot)
  if (due === undefined) throw new WakefulError('alarm.no_next_occurrence', {})
  if (snapshot.inFlight.has(due.id)) {
    throw new WakefulError('alarm.firing', { verb: 'skip next' })
  }
  const record = edited(alarm, context, {})
  const days = daysOffBefore(alarm, due)
  const next = { ...due, tick: due.tick + (days?.count ?? 0) }
  const events = [skippedRecord(alarm, next, 'skip_next', context.now)]
  if (days !== null) events.unshift(skippedRecord(alarm, days.first, 'holiday', context.now, days))
  const after = following(alarm, next)
  if (after !== null) return { alarm: record, move: [{ id: due.id, ...after }], events }
  const change = { alarm: record, remove: [due.id], events }
  return snapshot.timers.length > 1 ? change : { ...change, ...ranOut(snapshot) }
}

/** The instants on days off that a rule skips on its way to its next occurrence, where nobody has told of them yet. */
function daysOffBefore(alarm: Alarm, due: Timer) {
  const first = fromFirstSkipped(alarm, due)
  if (first === due) return null
  const run = countBetween(alarm.rule, first.scheduledFor - 1, due.scheduledFor - 1, PAUSED_TICKS_MAX)
  return run.last === null ? null : { first, to: run.last, count: run.count, exact: run.exact }
}

/** The timer at the first of the instants that its rule skips on the way to it; itself where there are none. */
function fromFirstSkipped(alarm: Alarm, timer: Timer): Timer {
  if (timer.nominal === null || alarm.rule.kind === 'once' || moves(alarm.rule)) return timer
  return { ...timer, scheduledFor: timer.nominal, nominal: null }
}

/** Fires at once: a once alarm now instead of later, a recurring one in addition to its rule. */
export function fireNow(snapshot: Snapshot, context: Context): Change {
  const { alarm, timers } = snapshot
  move(snapshot, 'fire_now')
  const record = edited(alarm, context, recurs(alarm) ? {} : { pausedAt: null })
  const events = [asked('fire_now', context)]
  if (recurs(alarm)) return { alarm: record, add: [forced(record, context)], events }
  refuseInFlight(snapshot, 'fire now')
  const moves = timers.map((timer): TimerMove => {
    if (timer.kind === 'retry') return { id: timer.id, wakeAt: context.now, waiting: null }
    return {
      id: timer.id,
      wakeAt: context.now,
      scheduledFor: Math.min(context.now, timer.scheduledFor),
      zoneOffset: null,
      waiting: null,
    }
  })
  return { alarm: record, move: moves, events }
}

/** Tries again what failed or timed out, as a new occurrence with a fresh budget of attempts. */
export function retry(snapshot: Snapshot, context: Context): Change {
  const { alarm, outcome } = snapshot
  const isOpen = snapshot.timers.some((timer) => timer.kind === 'retry')
  const hasFailed = outcome?.status === null && outcome.lastError !== null && !isOpen
  if (recurs(alarm) && hasFailed && alarm.cancelledAt === null) {
    const record = edited(alarm, context, {})
    return { alarm: record, add: [forced(record, context)], events: [asked('retry', context)] }
  }
  const state = stateOf(alarm, snapshot.timers, outcome)
  move(snapshot, 'retry')
  const record = edited(alarm, context, { generation: alarm.generation + 1, cancelledAt: null })
  const scheduledFor = alarm.rule.kind === 'once' ? alarm.rule.at : context.now
  const timer: NewTimer = {
    ...timerAt(record, Math.min(scheduledFor, context.now)),
    kind: 'retry',
    wakeAt: context.now,
  }
  const summary = { ...(outcome ?? NO_OUTCOME), status: null, completedAt: null, durationMs: null }
  return {
    alarm: record,
    add: [timer, ...resumedRule(record, context)],
    outcome: summary,
    events: [asked('retry', context)],
    tally: { from: bucketOf(state), to: 'pending', durationMs: null },
  }
}

/** Moves the alarm to another time, or replaces all of it (an upsert by key): it starts afresh. */
export function replace(
  snapshot: Snapshot,
  by: { readonly alarm: Alarm } & Beginning,
  event: 'reschedule' | 'set_again',
  context: Context,
): Change {
  const { alarm, timers } = snapshot
  const from = stateOf(alarm, timers, snapshot.outcome)
  const to = move(snapshot, event)
  const record = edited(alarm, context, {
    ...by.alarm,
    id: alarm.id,
    createdAt: alarm.createdAt,
    generation: alarm.generation + 1,
    pausedAt: to === 'paused' ? alarm.pausedAt : null,
    cancelledAt: null,
  })
  const resting = timers.filter((timer) => !snapshot.inFlight.has(timer.id))
  const superseded = resting.filter((timer) => timer.kind === 'retry' && !timer.delivered)
  return {
    alarm: record,
    remove: ids(resting),
    add: [firstTimer(record, by)],
    markEdited: flying(snapshot),
    outcome: null,
    events: [
      ...superseded.map((timer) => skippedRecord(alarm, timer, 'rescheduled', context.now)),
      alarmRecord('alarm.rescheduled', context.now, { next_fire_at: formatInstant(by.first) }),
    ],
    tally: tallyOf(from, to, null),
  }
}

/** Changes fields that do not move the alarm in time. */
export function amend(snapshot: Snapshot, fields: Partial<Alarm>, context: Context): Change {
  move(snapshot, 'reschedule', 'edit')
  // What is queued is looked at again: under another policy nothing may ever let it go.
  const queued = fields.overlap === undefined ? [] : snapshot.timers.flatMap(unqueue)
  return { alarm: edited(snapshot.alarm, context, fields), move: queued, markEdited: flying(snapshot) }
}

/** Refuses an edit by someone who has not seen the newest version. */
export function assertSeen(alarm: Alarm, seen: number | undefined): void {
  if (seen === undefined || seen === alarm.updatedAt) return
  const [theirs, ours] = [formatInstant(seen), formatInstant(alarm.updatedAt)]
  throw new WakefulError('alarm.edited', { at: ours, seen: theirs })
}

/** The occurrence the rule gives next, whether it waits, is parked or is firing. */
function dueTimer(snapshot: Snapshot): Timer | undefined {
  return snapshot.timers.find(
    (timer) => timer.kind === 'due' && timer.generation === snapshot.alarm.generation,
  )
}

/** What may still be asked of an alarm that was cancelled while it fired. */
const AFTER_CANCEL: ReadonlySet<LifecycleEvent> = new Set(['cancel', 'reschedule', 'set_again'])

function move(snapshot: Snapshot, event: LifecycleEvent, verb?: string): State {
  const { alarm, outcome } = snapshot
  const isEnding = alarm.cancelledAt !== null && (outcome === null || outcome.status === null)
  if (isEnding && !AFTER_CANCEL.has(event)) throw new WakefulError('alarm.cancelled_while_firing', {})
  return transition(stateOf(alarm, snapshot.timers, outcome), event, recurs(alarm), verb)
}

/** The record after an edit; its `updatedAt` grows even when two edits share a millisecond. */
function edited(alarm: Alarm, context: Context, fields: Partial<Alarm>): Alarm {
  return { ...alarm, ...fields, updatedAt: Math.max(context.now, alarm.updatedAt + 1) }
}

/**
 * Named by the edit's own moment, which no other edit shares: two within a millisecond are two occurrences. Where the
 * clock was set back, that moment may lie days ahead: then it is named by the present. Whoever asks for it now does not
 * mean the jitter of the rule.
 */
function forced(alarm: Alarm, { now }: Context): NewTimer {
  const named = alarm.updatedAt - now < FORCED_AHEAD_MS ? alarm.updatedAt : now
  return { ...timerAt(alarm, named), wakeAt: named, kind: 'forced', tick: FORCED_TICK }
}

const FORCED_AHEAD_MS = 1_000

/** A recurring alarm that had ended goes on with its rule beside what is tried again. */
function resumedRule(alarm: Alarm, context: Context): NewTimer[] {
  if (alarm.rule.kind === 'once') return []
  const standing = occurrenceAfter(alarm.rule, daysOff(alarm), context.now)
  return standing === null ? [] : [occurrenceAt(alarm, standing, 1, context.now)]
}

/** The trace of a user's wish to have it fire now. */
function asked(reason: 'fire_now' | 'retry', context: Context) {
  return alarmRecord('alarm.rescheduled', context.now, { reason, next_fire_at: formatInstant(context.now) })
}

function ranOut(snapshot: Snapshot): Pick<Change, 'outcome' | 'tally'> {
  const outcome = { ...(snapshot.outcome ?? NO_OUTCOME), status: 'completed' as const }
  return { outcome, tally: tallyOf('active', 'completed', null) }
}

function refuseInFlight(snapshot: Snapshot, verb: string): void {
  if (flying(snapshot).length === 0) return
  throw new WakefulError('alarm.firing', { verb })
}

function flying(snapshot: Snapshot): Serial[] {
  return ids(snapshot.timers.filter((timer) => snapshot.inFlight.has(timer.id)))
}

function ids(timers: readonly Timer[]): Serial[] {
  return timers.map((timer) => timer.id)
}
