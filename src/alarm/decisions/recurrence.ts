import {
  applyZoneData,
  countBetween,
  endOfDay,
  formatInstant,
  type InstantCount,
  lastOnWorkingDay,
  type NextOccurrence,
  nthAfter,
  occurrenceAfter,
  occurrenceFrom,
  type RecurringRule,
} from '../../time/index.ts'
import {
  type Alarm,
  type Change,
  type Context,
  daysOff,
  edited,
  movesOffDaysOff,
  type NewTimer,
  occurrenceAt,
  type Snapshot,
  type Timer,
  type TimerUpdate,
} from '../model/index.ts'
import { alarmRecord } from './event-records.ts'

/** The timer of the occurrence after this one; null when the rule has no more (promise: calendar-true). */
export function following(alarm: Alarm, timer: NewTimer): NewTimer | null {
  const { rule } = alarm
  if (rule.kind === 'once') return null
  if (rule.count !== undefined && timer.tick >= rule.count) return null
  // A rule that moves its instants fires at most once a day, even if a calendar is edited.
  const floor = movesOffDaysOff(rule) ? endOfDay(rule, timer.scheduledFor) : timer.scheduledFor
  const next = firstAboveFloor(alarm, occurrenceAfter(rule, daysOff(alarm), ownInstant(rule, timer)), floor)
  return next === null ? null : occurrenceAt(alarm, next, timer.tick + 1, floor)
}

/** The first occurrence, from the given one on, that is after the floor. */
function firstAboveFloor(
  alarm: Alarm,
  from: NextOccurrence | null,
  floor: number | null,
): NextOccurrence | null {
  const { rule } = alarm
  let next = from
  if (rule.kind === 'once' || floor === null) return next
  while (next !== null && next.at <= floor) next = occurrenceAfter(rule, daysOff(alarm), next.nominal)
  return next
}

/** The rule's own instant of a timer. */
function ownInstant(rule: RecurringRule, timer: NewTimer): number {
  return movesOffDaysOff(rule) ? (timer.nominal ?? timer.scheduledFor) : timer.scheduledFor
}

/** Whether the rule ends some day, so that the alarm can run out of occurrences. */
export function mayRunOut(alarm: Alarm): boolean {
  const { rule } = alarm
  // An RRULE may say its own COUNT or UNTIL.
  return (
    rule.kind === 'rrule' || (rule.kind !== 'once' && (rule.end !== undefined || rule.count !== undefined))
  )
}

/** Releases an occurrence that waited for an earlier one to end (overlap: queue). */
export function unqueue(timer: Timer): TimerUpdate[] {
  if (timer.kind !== 'due' || timer.waiting !== 'overlap' || timer.wakeAt !== null) return []
  return [{ id: timer.id, wakeAt: timer.scheduledFor }]
}

/** A run of occurrences, from one on. */
export interface Run {
  /** The last of them. */
  readonly to: NextOccurrence
  readonly count: number
  /** Whether the count is the number, or the least it can be. */
  readonly exact: boolean
}

/** Ticks of a calendar rule that are counted one by one; beyond it, the record says "at least". */
const TICKS_MAX = 100_000

/**
 * This occurrence and those after it up to a moment, within the rule's own count. It ends with the newest that is not on a
 * day off, however many there are: those after that one are recorded later, as days off.
 */
export function missedRun(alarm: Alarm, timer: NewTimer, until: number): Run {
  const { rule } = alarm
  let run: Run = { to: occurrenceOf(timer), count: 1, exact: true }
  if (rule.kind === 'once') return run
  if (movesOffDaysOff(rule)) {
    // A rule that moves its instants fires at most once a day: few enough to walk through.
    for (let next = following(alarm, timer); next !== null; next = following(alarm, next)) {
      if (next.scheduledFor > until) return run
      run = { to: occurrenceOf(next), count: run.count + 1, exact: true }
    }
    return run
  }
  const { scheduledFor } = timer
  const ticks = ticksAfter(rule, timer, until)
  const off = daysOff(alarm)
  const last =
    off === null || ticks.last === null ? ticks.last : lastOnWorkingDay(rule, off, scheduledFor, ticks.last)
  if (last === null) return run
  const { count, exact } = last === ticks.last ? ticks : countBetween(rule, scheduledFor, last, TICKS_MAX)
  return { to: { at: last, nominal: last }, count: count + 1, exact }
}

function ticksAfter(rule: RecurringRule, { scheduledFor, tick }: NewTimer, until: number): InstantCount {
  const run = countBetween(rule, scheduledFor, until, TICKS_MAX)
  const left = rule.count === undefined ? Infinity : rule.count - tick
  if (run.count <= left && (run.exact || left > TICKS_MAX)) return run
  // The rule's count ends before the newest instant.
  return { count: left, last: left === 0 ? null : nthAfter(rule, scheduledFor, left, until), exact: true }
}

/** The instants on days off up to a moment, from the first that the rule skipped, where they are not in the log yet. */
export function daysOffRun<T extends NewTimer>(
  alarm: Alarm,
  timer: T,
  until: number,
): (Run & { readonly first: T }) | null {
  const first = fromFirstSkipped(alarm, timer)
  const { count, last, exact } = countBetween(alarm.rule, first.scheduledFor - 1, until, TICKS_MAX)
  return last === null ? null : { first, to: { at: last, nominal: last }, count, exact }
}

/** The timer at the first instant that its rule skipped; the timer itself where none was. */
export function fromFirstSkipped<T extends NewTimer>({ rule }: Alarm, timer: T): T {
  if (timer.nominal === null || rule.kind === 'once' || movesOffDaysOff(rule)) return timer
  return { ...timer, scheduledFor: timer.nominal, nominal: null }
}

/** The occurrence of a timer. */
function occurrenceOf(timer: NewTimer): NextOccurrence {
  return { at: timer.scheduledFor, nominal: timer.nominal ?? timer.scheduledFor }
}

/** The n-th occurrence, counted from this one; the alarm has at least n up to `until`. */
export function nthFrom(alarm: Alarm, timer: NewTimer, n: number, until: number): NextOccurrence {
  const { rule } = alarm
  if (rule.kind !== 'once' && !movesOffDaysOff(rule)) {
    const at = n === 1 ? timer.scheduledFor : nthAfter(rule, timer.scheduledFor, n - 1, until)
    return { at, nominal: at }
  }
  let nth: NewTimer = timer
  for (let passed = 1; passed < n; passed++) nth = following(alarm, nth) ?? nth
  return occurrenceOf(nth)
}

/** The occurrence before the last of a run. */
export function lastBefore(alarm: Alarm, timer: NewTimer, { to, count }: Run): NextOccurrence {
  const { rule } = alarm
  if (rule.kind === 'once' || movesOffDaysOff(rule)) return nthFrom(alarm, timer, count - 1, to.at)
  const at = countBetween(rule, timer.scheduledFor, to.at - 1, 1).last ?? timer.scheduledFor
  return { at, nominal: at }
}

/**
 * Resolves an alarm's pending instant again, by the current zone data and calendars; null where nothing changes. Timers in
 * flight, and retries, stay as they are.
 */
export function review(snapshot: Snapshot, context: Context): Change | null {
  for (const timer of snapshot.timers) {
    if (timer.kind !== 'due' || snapshot.inFlight.has(timer.id)) continue
    const change = moveIfInstantChanged(snapshot.alarm, timer, context)
    if (change !== null) return change
  }
  return null
}

/** What a review of one timer writes: its new instant, and a record of the old one, the new one and the reason. */
export function moveIfInstantChanged(alarm: Alarm, timer: Timer, context: Context): Change | null {
  // A timer that waits for its handler, an operator, or an earlier occurrence has come due already.
  const { waiting } = timer
  const hasComeDue = waiting === 'handler' || waiting === 'operator_pause' || waiting === 'overlap'
  if (timer.generation !== alarm.generation || hasComeDue) return null
  const current = currentOccurrence(alarm, timer)
  if (current === null) return null
  const update = [{ id: timer.id, ...current }]
  if (current.scheduledFor === timer.scheduledFor)
    return current.nominal === timer.nominal ? null : { update }
  const byZone = current.zoneOffset !== timer.zoneOffset
  const data = {
    reason: byZone ? 'zone_data' : 'calendar',
    was: formatInstant(timer.scheduledFor),
    next_fire_at: formatInstant(current.scheduledFor),
  }
  const change: Change = { update, events: [alarmRecord('alarm.rescheduled', context.now, data)] }
  if (alarm.rule.kind !== 'once') return change
  const rule = { ...alarm.rule, at: current.scheduledFor }
  return { ...change, alarm: edited(alarm, context, { rule }) }
}

/** The timer by the current zone data and calendars; null where it stays as it is. */
function currentOccurrence(alarm: Alarm, timer: Timer): NewTimer | null {
  const { rule } = alarm
  const own = timer.nominal ?? timer.scheduledFor
  const nominal = timer.zoneOffset === null ? own : applyZoneData(rule, own, timer.zoneOffset)
  if (nominal === own && (rule.kind === 'once' || rule.exclude === undefined)) return null
  if (rule.kind === 'once') return occurrenceAt(alarm, { at: nominal, nominal }, timer.tick, null)
  const { floor } = timer
  const from = occurrenceFrom(rule, daysOff(alarm), nominal)
  // New zone data may move it to an instant that has fired already: then it stays.
  if (nominal !== own && floor !== null && from !== null && from.at <= floor) return null
  const next = firstAboveFloor(alarm, from, floor)
  return next === null ? null : occurrenceAt(alarm, next, timer.tick, floor)
}
