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
  movesToWorkingDay,
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
  // A rule that moves occurrences to working days fires at most once a day, even if a calendar is edited.
  const floor = movesToWorkingDay(rule) ? endOfDay(rule, timer.scheduledFor) : timer.scheduledFor
  const next = firstAboveFloor(
    alarm,
    occurrenceAfter(rule, daysOff(alarm), ruleInstantOf(rule, timer)),
    floor,
  )
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

/** The rule's own instant for the timer's occurrence, before it was moved to a working day. */
function ruleInstantOf(rule: RecurringRule, timer: NewTimer): number {
  return movesToWorkingDay(rule) ? (timer.nominal ?? timer.scheduledFor) : timer.scheduledFor
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

/** Occurrences that follow each other, from a given one on. */
export interface OccurrenceRange {
  readonly last: NextOccurrence
  readonly count: number
  /** False if `count` is only a lower bound. */
  readonly exact: boolean
}

/** Instants of a calendar rule that are counted one by one; beyond this, the record says "at least". */
const COUNTED_MAX = 100_000

/**
 * This occurrence and those after it up to `until`, within the rule's own count. The range ends with the last occurrence
 * that is not on a day off. Days off after it are recorded with the next occurrence, as `holiday`.
 */
export function missedRange(alarm: Alarm, timer: NewTimer, until: number): OccurrenceRange {
  const { rule } = alarm
  let range: OccurrenceRange = { last: occurrenceOf(timer), count: 1, exact: true }
  if (rule.kind === 'once') return range
  if (movesToWorkingDay(rule)) {
    // A rule that moves occurrences to working days fires at most once a day: few enough to walk through.
    for (let next = following(alarm, timer); next !== null; next = following(alarm, next)) {
      if (next.scheduledFor > until) return range
      range = { last: occurrenceOf(next), count: range.count + 1, exact: true }
    }
    return range
  }
  const { scheduledFor } = timer
  const instants = instantsAfter(rule, timer, until)
  const off = daysOff(alarm)
  const last =
    off === null || instants.last === null
      ? instants.last
      : lastOnWorkingDay(rule, off, scheduledFor, instants.last)
  if (last === null) return range
  const { count, exact } =
    last === instants.last ? instants : countBetween(rule, scheduledFor, last, COUNTED_MAX)
  return { last: { at: last, nominal: last }, count: count + 1, exact }
}

function instantsAfter(rule: RecurringRule, { scheduledFor, tick }: NewTimer, until: number): InstantCount {
  const range = countBetween(rule, scheduledFor, until, COUNTED_MAX)
  const left = rule.count === undefined ? Infinity : rule.count - tick
  if (range.count <= left && (range.exact || left > COUNTED_MAX)) return range
  // The rule's count ends before the newest instant.
  return { count: left, last: left === 0 ? null : nthAfter(rule, scheduledFor, left, until), exact: true }
}

/**
 * The instants that fell on days off and are not in the log yet, from the first skipped one up to `until`; null if there is
 * none.
 */
export function daysOffRange<T extends NewTimer>(
  alarm: Alarm,
  timer: T,
  until: number,
): (OccurrenceRange & { readonly first: T }) | null {
  const first = atFirstSkipped(alarm, timer)
  const { count, last, exact } = countBetween(alarm.rule, first.scheduledFor - 1, until, COUNTED_MAX)
  return last === null ? null : { first, last: { at: last, nominal: last }, count, exact }
}

/** The timer, set back to the first instant that was skipped because of a day off; unchanged if none was. */
export function atFirstSkipped<T extends NewTimer>({ rule }: Alarm, timer: T): T {
  if (timer.nominal === null || rule.kind === 'once' || movesToWorkingDay(rule)) return timer
  return { ...timer, scheduledFor: timer.nominal, nominal: null }
}

/** The occurrence of a timer. */
function occurrenceOf(timer: NewTimer): NextOccurrence {
  return { at: timer.scheduledFor, nominal: timer.nominal ?? timer.scheduledFor }
}

/** The n-th occurrence, counted from this one; the alarm has at least n up to `until`. */
export function nthFrom(alarm: Alarm, timer: NewTimer, n: number, until: number): NextOccurrence {
  const { rule } = alarm
  if (rule.kind !== 'once' && !movesToWorkingDay(rule)) {
    const at = n === 1 ? timer.scheduledFor : nthAfter(rule, timer.scheduledFor, n - 1, until)
    return { at, nominal: at }
  }
  let nth: NewTimer = timer
  for (let passed = 1; passed < n; passed++) nth = following(alarm, nth) ?? nth
  return occurrenceOf(nth)
}

/** The last occurrence but one of a range. */
export function secondToLast(
  alarm: Alarm,
  timer: NewTimer,
  { last, count }: OccurrenceRange,
): NextOccurrence {
  const { rule } = alarm
  if (rule.kind === 'once' || movesToWorkingDay(rule)) return nthFrom(alarm, timer, count - 1, last.at)
  const at = countBetween(rule, timer.scheduledFor, last.at - 1, 1).last ?? timer.scheduledFor
  return { at, nominal: at }
}

/**
 * Computes an alarm's pending instant again, with the current zone data and calendars; null if nothing changes. Timers in
 * flight, and retries, stay as they are.
 */
export function recomputeInstants(snapshot: Snapshot, context: Context): Change | null {
  for (const timer of snapshot.timers) {
    if (timer.kind !== 'due' || snapshot.inFlight.has(timer.id)) continue
    const change = moveIfInstantChanged(snapshot.alarm, timer, context)
    if (change !== null) return change
  }
  return null
}

/**
 * What is written if a timer's instant, computed again, is another: the new instant, and a record of the old one, the new
 * one and the reason. Null if nothing changes.
 */
export function moveIfInstantChanged(alarm: Alarm, timer: Timer, context: Context): Change | null {
  // A timer that waits for its handler, an operator, or an earlier occurrence has come due already.
  const { waiting } = timer
  const hasComeDue = waiting === 'handler' || waiting === 'operator_pause' || waiting === 'overlap'
  if (timer.generation !== alarm.generation || hasComeDue) return null
  const current = recomputedTimer(alarm, timer)
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

/** The timer computed again with the current zone data and calendars; null if it stays as it is. */
function recomputedTimer(alarm: Alarm, timer: Timer): NewTimer | null {
  const { rule } = alarm
  const ruleInstant = timer.nominal ?? timer.scheduledFor
  const nominal = timer.zoneOffset === null ? ruleInstant : applyZoneData(rule, ruleInstant, timer.zoneOffset)
  if (nominal === ruleInstant && (rule.kind === 'once' || rule.exclude === undefined)) return null
  if (rule.kind === 'once') return occurrenceAt(alarm, { at: nominal, nominal }, timer.tick, null)
  const { floor } = timer
  const from = occurrenceFrom(rule, daysOff(alarm), nominal)
  // New zone data may move it to an instant that has fired already: then it stays.
  if (nominal !== ruleInstant && floor !== null && from !== null && from.at <= floor) return null
  const next = firstAboveFloor(alarm, from, floor)
  return next === null ? null : occurrenceAt(alarm, next, timer.tick, floor)
}
