import {
  countBetween,
  type DaysOff,
  daysOffOf,
  endOfDay,
  type InstantCount,
  lastOnWorkingDay,
  type NextOccurrence,
  occurrenceAfter,
  type RecurringRule,
  type Rule,
  wakeTime,
  zoneOffsetOf,
} from '../../time/index.ts'
import type { Alarm, NewTimer, Timer, TimerUpdate } from '../model/index.ts'

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
export function firstAboveFloor(
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

/** The first occurrence of an alarm; `nominal` differs from `first` where days off move it. */
export interface Beginning {
  readonly first: number
  readonly nominal?: number
}

/** The first timer of an alarm that was set. */
export function firstTimer(alarm: Alarm, { first, nominal = first }: Beginning): NewTimer {
  const { rule } = alarm
  const floor = rule.kind === 'once' ? null : Math.max(alarm.updatedAt, (rule.start ?? 0) - 1)
  return occurrenceAt(alarm, { at: first, nominal }, 1, floor === null ? null : Math.min(floor, first - 1))
}

/** The timer of an occurrence; parked if the alarm is paused. */
export function occurrenceAt(
  alarm: Alarm,
  next: NextOccurrence,
  tick: number,
  floor: number | null,
): NewTimer {
  const { rule } = alarm
  const at = withinCount(rule, next, tick)
  const { nominal } = next
  const paused = alarm.pausedAt !== null
  return {
    kind: 'due',
    wakeAt: paused ? null : wakeTime(rule, alarm.id, at),
    scheduledFor: at,
    nominal: nominal === at ? null : nominal,
    zoneOffset: zoneOffsetOf(rule, nominal),
    floor,
    tick,
    generation: alarm.generation,
    attempt: 0,
    startedAt: null,
    waiting: paused ? 'paused' : null,
    delivered: false,
  }
}

/** If skipped instants use up the rule's count, the timer is at the last of them: it writes their record there and ends. */
function withinCount(rule: Rule, { at, nominal }: NextOccurrence, tick: number): number {
  if (rule.kind === 'once' || rule.count === undefined || at === nominal || movesOffDaysOff(rule)) return at
  const left = rule.count - tick
  const { count } = countBetween(rule, nominal - 1, at - 1, left + 1)
  return count <= left ? at : nthAfter(rule, nominal - 1, left + 1, at)
}

/** The rule's own instant of a timer. */
function ownInstant(rule: RecurringRule, timer: NewTimer): number {
  return movesOffDaysOff(rule) ? (timer.nominal ?? timer.scheduledFor) : timer.scheduledFor
}

/** Whether days off move the rule's instants; otherwise they skip them. */
export function movesOffDaysOff(rule: RecurringRule): boolean {
  return rule.exclude?.move !== undefined
}

/** The days on which an alarm's rule does not fire. */
export function daysOff({ rule, calendars }: Alarm): DaysOff | null {
  if (rule.kind === 'once' || rule.exclude === undefined) return null
  return daysOffOf(rule.exclude, (name) => calendars.find((calendar) => calendar.name === name))
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

/** A run of ticks that passed. */
export interface MissedRun {
  readonly count: number
  /** The newest of them that is not on a day off; those after it are recorded later, as days off. */
  readonly last: NextOccurrence | null
  /** Whether the count is the number, or the least it can be. */
  readonly exact: boolean
}

const NONE_MISSED: MissedRun = { count: 0, last: null, exact: true }

/** The ticks after this one up to a moment, within the rule's own count. `last` is the newest, however many there are. */
export function countMissedAfter(alarm: Alarm, timer: NewTimer, until: number, limit: number): MissedRun {
  const { rule } = alarm
  if (rule.kind === 'once') return NONE_MISSED
  if (movesOffDaysOff(rule)) return missedMoved(alarm, timer, until)
  const run = ticksAfter(rule, timer, until, limit)
  const off = daysOff(alarm)
  const last =
    off === null || run.last === null ? run.last : lastOnWorkingDay(rule, off, timer.scheduledFor, run.last)
  if (last === null) return NONE_MISSED
  const upTo = last === run.last ? run : countBetween(rule, timer.scheduledFor, last, limit)
  return { count: upTo.count, last: { at: last, nominal: last }, exact: upTo.exact }
}

function ticksAfter(rule: RecurringRule, timer: NewTimer, until: number, limit: number): InstantCount {
  const { scheduledFor, tick } = timer
  const run = countBetween(rule, scheduledFor, until, limit)
  const left = rule.count === undefined ? Infinity : rule.count - tick
  if (run.count <= left && (run.exact || left > limit)) return run
  // The rule's count ends before the newest instant.
  return { count: left, last: left === 0 ? null : nthAfter(rule, scheduledFor, left, until), exact: true }
}

/** A rule that moves its instants fires at most once a day: few enough to walk through. */
function missedMoved(alarm: Alarm, timer: NewTimer, until: number): MissedRun {
  let run = NONE_MISSED
  for (let next = following(alarm, timer); next !== null; next = following(alarm, next)) {
    if (next.scheduledFor > until) return run
    run = { count: run.count + 1, last: occurrenceOf(next), exact: true }
  }
  return run
}

/** The occurrence of a timer. */
export function occurrenceOf(timer: NewTimer): NextOccurrence {
  return { at: timer.scheduledFor, nominal: timer.nominal ?? timer.scheduledFor }
}

/** This tick and those after it up to a moment: how many there are, and the newest. */
export function countMissedIncluding(alarm: Alarm, timer: NewTimer, until: number, limit: number): MissedRun {
  if (timer.scheduledFor > until) return NONE_MISSED
  const { count, last, exact } = countMissedAfter(alarm, timer, until, limit)
  return { count: count + 1, last: last ?? occurrenceOf(timer), exact }
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

/** The occurrence before the newest of a run. */
export function lastBefore(alarm: Alarm, timer: NewTimer, run: MissedRun, newest: number): number {
  const { rule } = alarm
  if (rule.kind === 'once' || movesOffDaysOff(rule)) return nthFrom(alarm, timer, run.count, newest).at
  return countBetween(rule, timer.scheduledFor, newest - 1, 1).last ?? timer.scheduledFor
}

/** The n-th instant after another, found by bisection; the rule has at least n up to `until`. */
function nthAfter(rule: Rule, after: number, n: number, until: number): number {
  let [low, high] = [after, until]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    const { count, exact } = countBetween(rule, after, middle, n)
    if (count >= n || !exact) high = middle
    else low = middle
  }
  return high
}
