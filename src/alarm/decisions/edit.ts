import { WakefulError } from '../../error.ts'
import { formatInstant, occurrenceAfter, wakeTime } from '../../time/index.ts'
import {
  type Alarm,
  type Beginning,
  bucketOf,
  bucketOfAlarm,
  type Change,
  type Context,
  daysOff,
  type EventDraft,
  edited,
  FORCED_TICK,
  firstTimer,
  type LifecycleEvent,
  type NewTimer,
  NO_OUTCOME,
  occurrenceAt,
  recurs,
  type Serial,
  type Snapshot,
  type State,
  stateOf,
  type Timer,
  type TimerUpdate,
  tallyOf,
  timerAt,
  transition,
} from '../model/index.ts'
import { alarmRecord, droppedRecords, skippedRecord } from './event-records.ts'
import { atFirstSkipped, daysOffRange, following, missedRange, unqueue } from './recurrence.ts'
import { isUnattempted, settleDue } from './settle-due.ts'

/** The result of a cancel: it won, an occurrence was already firing, or the alarm had ended. */
export type CancelOutcome = 'cancelled' | 'firing' | 'ended'

/** Cancels the alarm, or returns `firing` for an occurrence in flight (promise: cancel-wins). */
export function cancel(snapshot: Snapshot, context: Context): { change: Change; outcome: CancelOutcome } {
  const { alarm, timers } = snapshot
  const state = stateOf(alarm, timers, snapshot.outcome)
  const to = move(snapshot, 'cancel')
  if (to === state) return { change: {}, outcome: 'ended' }
  const inFlight = timers.filter((timer) => snapshot.inFlight.has(timer.id))
  const others = timers.filter((timer) => !snapshot.inFlight.has(timer.id))
  const remove = others.map((timer) => timer.id)
  const events = droppedRecords(alarm, others, 'cancelled', context.now)
  const record = edited(alarm, context, { cancelledAt: context.now })
  if (inFlight.some((timer) => timer.generation === alarm.generation)) {
    const change = { remove, events, alarm: record, markEdited: ids(inFlight) }
    return { change, outcome: 'firing' }
  }
  events.push(alarmRecord('alarm.cancelled', context.now))
  const outcome = { ...(snapshot.outcome ?? NO_OUTCOME), status: 'cancelled' as const }
  const change = { remove, events, alarm: record, outcome, tally: tallyOf(state, to, null) }
  // An occurrence that a reschedule superseded may still be about to start: the alarm ends, but the cancel has not won.
  return { change, outcome: inFlight.length > 0 ? 'firing' : 'cancelled' }
}

/** Takes an alarm out of the list that declared it: it is cancelled, or if it has ended, retention may delete it. */
export function undeclare(snapshot: Snapshot, context: Context): { change: Change; outcome: CancelOutcome } {
  const { alarm } = snapshot
  const { change, outcome } = cancel(snapshot, context)
  const record = { ...(change.alarm ?? alarm), declaredBy: null }
  if (outcome !== 'ended') return { change: { ...change, alarm: record }, outcome }
  // Retention deletes an alarm at its last event, and may have passed the others.
  const left = alarmRecord('alarm.undeclared', context.now, { list: alarm.declaredBy })
  return { change: { alarm: record, events: [left] }, outcome }
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
    update: resting.map((timer) => ({ id: timer.id, wakeAt: null, waiting: 'paused' as const })),
    markEdited: inFlightIds(snapshot),
    events: [alarmRecord('alarm.paused', context.now)],
  }
}

/** Resumes a paused alarm: a once alarm at its instant or at once, a recurring one after the ticks it missed. */
export function resume(snapshot: Snapshot, context: Context): Change {
  const { alarm, timers } = snapshot
  move(snapshot, 'resume')
  if (alarm.pausedAt === null) return {}
  const running = edited(alarm, context, { pausedAt: null })
  const events = [alarmRecord('alarm.resumed', context.now)]
  const moves: TimerUpdate[] = []
  const remove: Serial[] = []
  for (const timer of timers) {
    if (timer.waiting !== 'paused') continue
    if (timer.kind !== 'due') {
      moves.push({ id: timer.id, wakeAt: Math.max(context.now, timer.scheduledFor), waiting: null })
      continue
    }
    if (!recurs(alarm) || timer.scheduledFor > context.now) {
      // What the pause made late is not a misfire; from here on it can be.
      const waiting = timer.scheduledFor > context.now ? null : timer.waiting
      moves.push({ id: timer.id, wakeAt: wakeTime(alarm.rule, alarm.id, timer.scheduledFor), waiting })
      continue
    }
    const from = atFirstSkipped(alarm, timer)
    const range = missedRange(alarm, from, context.now)
    const { at, nominal } = range.last
    events.push(skippedRecord(alarm, from, 'paused', context.now, range))
    const after = following(running, {
      ...from,
      scheduledFor: at,
      nominal,
      tick: from.tick + range.count - 1,
    })
    if (after === null) remove.push(timer.id)
    else moves.push({ id: timer.id, ...after })
  }
  const change: Change = { alarm: running, update: moves, remove, events, markEdited: inFlightIds(snapshot) }
  return timers.length > remove.length ? change : { ...change, ...ranOut(snapshot) }
}

/** Skips the next occurrence of a recurring alarm: that of its rule, or the one that was snoozed if it comes first. */
export function skipNext(snapshot: Snapshot, context: Context): Change {
  const { alarm, timers } = snapshot
  move(snapshot, 'skip_next')
  if (!recurs(alarm)) throw new WakefulError('alarm.single_occurrence', {})
  const due = timers.find(({ kind, generation }) => kind === 'due' && generation === alarm.generation)
  const snoozed = snoozedIn(snapshot, context)
  if (snoozed !== undefined && snoozed.scheduledFor < (due?.scheduledFor ?? Infinity)) {
    const events = [skippedRecord(alarm, snoozed, 'skip_next', context.now)]
    const change = { alarm: edited(alarm, context, {}), remove: [snoozed.id], events }
    return timers.length > 1 ? change : { ...change, ...ranOut(snapshot) }
  }
  if (due === undefined) throw new WakefulError('alarm.no_next_occurrence', {})
  if (snapshot.inFlight.has(due.id)) throw new WakefulError('alarm.firing', { verb: 'skip next' })
  const record = edited(alarm, context, {})
  const days = daysOffRange(alarm, due, due.scheduledFor - 1)
  const next = { ...due, tick: due.tick + (days?.count ?? 0) }
  const events = [skippedRecord(alarm, next, 'skip_next', context.now)]
  if (days !== null) events.unshift(skippedRecord(alarm, days.first, 'holiday', context.now, days))
  const after = following(alarm, next)
  if (after !== null) return { alarm: record, update: [{ id: due.id, ...after }], events }
  const change = { alarm: record, remove: [due.id], events }
  return timers.length > 1 ? change : { ...change, ...ranOut(snapshot) }
}

/** Fires at once: a once alarm now instead of later, a recurring one in addition to its rule. */
export function fireNow(snapshot: Snapshot, context: Context): Change {
  const { alarm, timers } = snapshot
  move(snapshot, 'fire_now')
  const record = edited(alarm, context, recurs(alarm) ? {} : { pausedAt: null })
  const events = [requestedRecord('fire_now', context)]
  if (recurs(alarm)) return { alarm: record, add: [forced(record, context)], events }
  refuseInFlight(snapshot, 'fire now')
  const moves = timers.map((timer): TimerUpdate => {
    if (timer.kind === 'retry') return { id: timer.id, wakeAt: context.now, waiting: null }
    return {
      id: timer.id,
      wakeAt: context.now,
      scheduledFor: Math.min(context.now, timer.scheduledFor),
      zoneOffset: null,
      waiting: null,
    }
  })
  return { alarm: record, update: moves, events }
}

/**
 * Lets a recurring alarm fire once more at an instant. It is an occurrence fired by hand, later: one that was snoozed before
 * moves there, and if the rule's next one comes first, that one is skipped. The rule stays.
 */
export function snooze(
  snapshot: Snapshot,
  { first: until, notes }: { readonly first: number; readonly notes: readonly string[] },
  context: Context,
): Change {
  move(snapshot, 'fire_now', 'snooze')
  const { alarm, timers, inFlight } = snapshot
  const dueTimer = timers.find(({ kind, generation }) => kind === 'due' && generation === alarm.generation)
  const isFiring = dueTimer !== undefined && inFlight.has(dueTimer.id)
  // The one after it has no timer yet, so nothing could skip it.
  if (isFiring && (following(alarm, dueTimer)?.scheduledFor ?? Infinity) <= until)
    throw new WakefulError('alarm.firing', { verb: 'snooze' })
  const snoozed = snoozedIn(snapshot, context)
  const at = { scheduledFor: until, ...parkedIf(alarm.pausedAt !== null, until) }
  const request = rescheduledRecord(until, notes, context, 'snooze')
  const add = [{ ...timerAt(alarm, until), ...at, kind: 'forced' as const, tick: FORCED_TICK }]
  const moves = snoozed === undefined ? [] : [{ id: snoozed.id, ...at }]
  const moved = snoozed === undefined ? { add } : { update: moves }
  if (dueTimer === undefined || isFiring || dueTimer.scheduledFor > until)
    return { alarm: edited(alarm, context, {}), ...moved, events: [request] }
  const others = snoozed === undefined ? snapshot : without(snapshot, snoozed)
  // The alarm goes on after its last occurrence was skipped, with the snoozed one.
  const { outcome: _, tally: __, ...skipped } = skipNext(others, context)
  const events = [...(skipped.events ?? []), request]
  const update = skipped.update ?? []
  // The rule itself has an occurrence then: it is the one, or the alarm would fire twice at once.
  if (update.some(({ scheduledFor }) => scheduledFor === until))
    return { ...skipped, events, ...(snoozed && { remove: [snoozed.id] }) }
  return { ...skipped, ...moved, update: [...update, ...moves], events }
}

/** The occurrence that was snoozed. One that was fired by hand is named by an `updatedAt`, which may be ahead of the clock. */
function snoozedIn({ alarm, timers, inFlight }: Snapshot, { now }: Context): Timer | undefined {
  const known = Math.max(now, alarm.updatedAt)
  return timers.find(
    ({ id, kind, generation, scheduledFor }) =>
      kind === 'forced' && generation === alarm.generation && scheduledFor > known && !inFlight.has(id),
  )
}

function without(snapshot: Snapshot, { id }: Timer): Snapshot {
  return { ...snapshot, timers: snapshot.timers.filter((timer) => timer.id !== id) }
}

function parkedIf(isPaused: boolean, wakeAt: number): Pick<NewTimer, 'wakeAt' | 'waiting'> {
  return isPaused ? { wakeAt: null, waiting: 'paused' } : { wakeAt, waiting: null }
}

/** Retries what failed or timed out, as a new occurrence with all its attempts. */
export function retry(snapshot: Snapshot, context: Context): Change {
  const { alarm, outcome } = snapshot
  const isOpen = snapshot.timers.some((timer) => timer.kind === 'retry')
  const hasFailed = outcome?.status === null && outcome.lastError !== null && !isOpen
  if (recurs(alarm) && hasFailed && alarm.cancelledAt === null) {
    const record = edited(alarm, context, {})
    return { alarm: record, add: [forced(record, context)], events: [requestedRecord('retry', context)] }
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
  const summary = {
    ...(outcome ?? NO_OUTCOME),
    status: null,
    completedAt: null,
    durationMs: null,
    result: null,
  }
  return {
    alarm: record,
    add: [timer, ...resumedRule(record, context)],
    outcome: summary,
    events: [requestedRecord('retry', context)],
    tally: { from: bucketOf(state), to: 'pending', durationMs: null },
  }
}

/**
 * Moves the alarm to another time, or replaces all of it (a set by key): it starts afresh, after what was due has been settled
 * under the old rule. `resumes` ends its pause.
 */
export function replace(
  snapshot: Snapshot,
  by: { readonly alarm: Alarm; readonly resumes?: boolean } & Beginning,
  event: 'reschedule' | 'set_again',
  context: Context,
  reason?: 'snooze',
): Change {
  const { alarm, timers } = snapshot
  const from = bucketOfAlarm(alarm, timers, snapshot.outcome)
  const to = move(snapshot, event)
  const changed = edited(alarm, context, {
    ...by.alarm,
    id: alarm.id,
    createdAt: alarm.createdAt,
    generation: alarm.generation + 1,
    pausedAt: to === 'paused' && by.resumes !== true ? alarm.pausedAt : null,
    cancelledAt: null,
  })
  // A new wait begins. `why` compares it with `createdAt`, so it must be later, as `updatedAt` always is.
  const record = { ...changed, registeredAt: changed.updatedAt }
  const due = settleDue(snapshot, context)
  // The end of a one-shot is the end of its alarm, so it has no other occurrence beside it.
  const [owed, dropped] = recurs(record) ? [due.owed, []] : [[], due.owed]
  const resting = timers.filter((timer) => !snapshot.inFlight.has(timer.id))
  const isDropped = (timer: Timer) => !recurs(alarm) || !isUnattempted(timer)
  return {
    alarm: record,
    remove: ids(resting),
    add: [...owed.map((timer) => carriedOver(timer, record, context)), firstTimer(record, by)],
    markEdited: inFlightIds(snapshot),
    outcome: null,
    events: [
      ...due.events,
      ...dropped.map((timer) => skippedRecord(alarm, timer, 'rescheduled', context.now)),
      ...droppedRecords(alarm, resting.filter(isDropped), 'rescheduled', context.now),
      rescheduledRecord(by.first, record.notes, context, reason),
    ],
    tally: { from, to: bucketOf(to), durationMs: null },
  }
}

function rescheduledRecord(
  first: number,
  notes: readonly string[],
  { now }: Context,
  reason: 'snooze' | undefined,
): EventDraft {
  return alarmRecord('alarm.rescheduled', now, {
    ...(reason && { reason }),
    next_fire_at: formatInstant(first),
    ...(notes.length > 0 && { notes }),
  })
}

/** An occurrence of the old rule, to be delivered as the alarm is now. */
function carriedOver(timer: NewTimer, { generation, pausedAt }: Alarm, { now }: Context): NewTimer {
  if (timer.waiting !== 'paused' || pausedAt !== null) return { ...timer, generation }
  return { ...timer, generation, wakeAt: Math.max(now, timer.scheduledFor), waiting: null }
}

/** Changes fields that do not move the alarm in time. */
export function amend(snapshot: Snapshot, fields: Partial<Alarm>, context: Context): Change {
  move(snapshot, 'reschedule', 'edit')
  // Queued occurrences are decided again: under another policy nothing would release them.
  const queued = fields.overlap === undefined ? [] : snapshot.timers.flatMap(unqueue)
  return { alarm: edited(snapshot.alarm, context, fields), update: queued, markEdited: inFlightIds(snapshot) }
}

/** Refuses an edit that is based on an older version. */
export function assertCurrent(alarm: Alarm, seen: number | undefined): void {
  if (seen === undefined || seen === alarm.updatedAt) return
  const [theirs, ours] = [formatInstant(seen), formatInstant(alarm.updatedAt)]
  throw new WakefulError('alarm.edited', { at: ours, seen: theirs })
}

/** What is allowed on an alarm that was cancelled while it fired. */
const AFTER_CANCEL: ReadonlySet<LifecycleEvent> = new Set(['cancel', 'reschedule', 'set_again'])

function move(snapshot: Snapshot, event: LifecycleEvent, verb?: string): State {
  const { alarm, outcome } = snapshot
  const isEnding = alarm.cancelledAt !== null && (outcome === null || outcome.status === null)
  if (isEnding && !AFTER_CANCEL.has(event)) throw new WakefulError('alarm.cancelled_while_firing', {})
  return transition(stateOf(alarm, snapshot.timers, outcome), event, recurs(alarm), verb)
}

/**
 * Named by the edit's `updatedAt`, which is unique: two within a millisecond are two occurrences. After the clock was set
 * back, `updatedAt` may be days ahead; then the current time names it. The rule's jitter does not apply.
 */
function forced(alarm: Alarm, { now }: Context): NewTimer {
  const named = alarm.updatedAt - now < FORCED_AHEAD_MS ? alarm.updatedAt : now
  return { ...timerAt(alarm, named), wakeAt: named, kind: 'forced', tick: FORCED_TICK }
}

const FORCED_AHEAD_MS = 1_000

/** A recurring alarm that had ended goes on with its rule, besides the retried occurrence. */
function resumedRule(alarm: Alarm, context: Context): NewTimer[] {
  if (alarm.rule.kind === 'once') return []
  const next = occurrenceAfter(alarm.rule, daysOff(alarm), context.now)
  return next === null ? [] : [occurrenceAt(alarm, next, 1, context.now)]
}

/** The record of a request to fire now. */
function requestedRecord(reason: 'fire_now' | 'retry', context: Context) {
  return alarmRecord('alarm.rescheduled', context.now, { reason, next_fire_at: formatInstant(context.now) })
}

function ranOut(snapshot: Snapshot): Pick<Change, 'outcome' | 'tally'> {
  const outcome = { ...(snapshot.outcome ?? NO_OUTCOME), status: 'completed' as const }
  return { outcome, tally: tallyOf('active', 'completed', null) }
}

function refuseInFlight(snapshot: Snapshot, verb: string): void {
  if (inFlightIds(snapshot).length === 0) return
  throw new WakefulError('alarm.firing', { verb })
}

function inFlightIds(snapshot: Snapshot): Serial[] {
  return ids(snapshot.timers.filter((timer) => snapshot.inFlight.has(timer.id)))
}

function ids(timers: readonly Timer[]): Serial[] {
  return timers.map((timer) => timer.id)
}
