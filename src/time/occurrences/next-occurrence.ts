import { type DaysOff, movedDay, SEARCH_DAYS_MAX } from '../calendars/index.ts'
import { measureSearchWork } from '../clock/index.ts'
import { instantsOf, type RecurringRule, type Schedule, scheduleOf } from '../rules/index.ts'
import { INSTANT_MAX, instantOfWallTime, localDay, offsetPeriodAt, startOfDay } from '../zones/index.ts'
import { newestUpTo } from './count-between.ts'

/** Where a recurring rule stands: the instant that fires next, and the rule's own instant from which it came. */
export interface NextOccurrence {
  readonly at: number
  readonly nominal: number
}

const DAY_MS = 86_400_000
/** Runs of days off gone over before a search is given up: of weekends, forty years. */
const RUNS_MAX = 2000
/** What all the searches for one standing may take together: twice what one of them may. */
const WORK_MAX = 120_000
/** Ticks looked at for one that lands, or lands on another day, before a search is given up. */
const TICKS_MAX = 5000

/**
 * The standing after the rule's own instant `nominal`, which may also be a moment before the first. Null when the
 * rule has no more.
 */
export function occurrenceAfter(
  rule: RecurringRule,
  off: DaysOff | null,
  nominal: number,
): NextOccurrence | null {
  const schedule = scheduleOf(rule)
  const next = schedule.next(nominal)
  if (next === null || off === null || rule.exclude === undefined) return plain(next)
  if (rule.exclude.move === undefined) return skipDaysOff(rule, schedule, off, next)
  const landed = schedule.next(nominal - 1) === nominal ? movedDayOf(rule, off, nominal) : null
  return moveOffDaysOff(rule, schedule, off, next, landed ?? Number.NEGATIVE_INFINITY)
}

/**
 * The standing of the first of the rule's own instants at or after `nominal`: asked again when a calendar was edited.
 * Where it moves back, `at` may then be past, or on the day of what has fired last.
 */
export function occurrenceFrom(
  rule: RecurringRule,
  off: DaysOff | null,
  nominal: number,
): NextOccurrence | null {
  const schedule = scheduleOf(rule)
  const next = schedule.next(nominal - 1)
  if (next === null || off === null || rule.exclude === undefined) return plain(next)
  if (rule.exclude.move === undefined) return skipDaysOff(rule, schedule, off, next)
  return moveOffDaysOff(rule, schedule, off, next, Number.NEGATIVE_INFINITY)
}

/**
 * The standing that follows another. Skipping goes on from the instant that fired, since the ones before it were
 * passed over; moving goes on from the rule's own instant, since others may still lie before the day it moved to.
 */
export function followingOccurrence(
  rule: RecurringRule,
  off: DaysOff | null,
  from: NextOccurrence,
): NextOccurrence | null {
  return occurrenceAfter(rule, off, rule.exclude?.move === undefined ? from.at : from.nominal)
}

/** Whether the rule's own instant falls on a day off. */
export function isOnDayOff(rule: RecurringRule, off: DaysOff | null, at: number): boolean {
  return off?.isOff(localDay(rule.timezone, at)) ?? false
}

/** The newest of the rule's instants in (after, until] that is not on a day off; null where there is none. */
export function lastOnWorkingDay(
  rule: RecurringRule,
  off: DaysOff,
  after: number,
  until: number,
): number | null {
  const schedule = scheduleOf(rule)
  const first = schedule.next(after)
  let end = until
  for (let runs = 0; first !== null && first <= end && runs < RUNS_MAX; runs++) {
    const at = newestUpTo(schedule, first, end)
    const day = localDay(rule.timezone, at)
    if (!off.isOff(day)) return at
    const open = off.previousWorkingDay(day)
    if (open === null) return null
    end = startOfDay(rule.timezone, open + 1, 0) - 1
  }
  return null
}

function plain(at: number | null): NextOccurrence | null {
  return at === null ? null : { at, nominal: at }
}

/**
 * The first instant on a working day, found by jumping over whole runs of days off. Where none is left, the rule's
 * last instant: whoever wakes then can tell that the rest was skipped, and that it ended. Where the search is given up,
 * the one it came to: whoever wakes then goes on from there.
 */
function skipDaysOff(rule: RecurringRule, schedule: Schedule, off: DaysOff, nominal: number): NextOccurrence {
  const { timezone } = rule
  const work = measureSearchWork()
  let at = nominal
  for (let runs = 0; runs < RUNS_MAX && work() < WORK_MAX; runs++) {
    const day = localDay(timezone, at)
    if (!off.isOff(day)) break
    const open = startOfDay(timezone, off.nextWorkingDay(day) ?? day + SEARCH_DAYS_MAX, at + 1)
    const next = schedule.next(open - 1)
    if (next === null) return { at: newestUpTo(schedule, at, open), nominal }
    at = next
  }
  return { at, nominal }
}

/**
 * The first instant, from `nominal` on, that lands after this day: those that land on the same one are one. One that
 * lands nowhere, since a calendar takes all days for years, waits there: the edit that sets that right brings it back.
 */
function moveOffDaysOff(
  rule: RecurringRule,
  schedule: Schedule,
  off: DaysOff,
  nominal: number,
  after: number,
): NextOccurrence | null {
  let tick: number | null = nominal
  for (let ticks = 0; tick !== null && ticks < TICKS_MAX; ticks++) {
    const day = movedDayOf(rule, off, tick)
    if (day === null) return { at: Math.min(tick + SEARCH_DAYS_MAX * DAY_MS, INSTANT_MAX), nominal: tick }
    const at = day <= after ? null : instantOnDay(rule, tick, day)
    if (at !== null) return { at, nominal: tick }
    tick = schedule.next(tick)
  }
  return null
}

/** Whether an instant of a rule that moves finds a working day at all. */
export function hasWorkingDay(rule: RecurringRule, off: DaysOff, nominal: number): boolean {
  return movedDayOf(rule, off, nominal) !== null
}

/** The last moment of the day an instant is on, in the rule's zone. */
export function endOfDay({ timezone }: RecurringRule, at: number): number {
  return startOfDay(timezone, localDay(timezone, at) + 1, at) - 1
}

/** The working day on which an instant of a rule that moves comes to fire; null where there is none. */
function movedDayOf(rule: RecurringRule, off: DaysOff, nominal: number): number | null {
  return movedDay(rule.exclude!, off, localDay(rule.timezone, nominal))
}

/** An instant on another day at the same time on the wall clock; where the day is its own, it stays as it is. */
function instantOnDay(rule: RecurringRule, nominal: number, day: number): number | null {
  if (localDay(rule.timezone, nominal) === day) return nominal
  const overlap = 'dst' in rule && rule.dst?.overlap === 'last' ? 'last' : 'first'
  return instantOfWallTime(rule.timezone, day * DAY_MS + writtenTimeOfDay(rule, nominal), overlap)
}

/** The time of day of an instant in milliseconds, as the rule writes it, which a clock change may have moved. */
export function writtenTimeOfDay(rule: RecurringRule, nominal: number): number {
  const { start, offset, offsetBefore } = offsetPeriodAt(rule.timezone, nominal)
  const written = nominal + offsetBefore
  const inGap = offset > offsetBefore && nominal < start + offset - offsetBefore
  const shifted = inGap && instantsOf(rule).nextWallTime?.(written - 1) === written
  const wall = shifted ? written : nominal + offset
  return wall - Math.floor(wall / DAY_MS) * DAY_MS
}

/**
 * The first standing of a rule that was set: it fires after `now`, and not before the rule's start. The instant it
 * came from may be past, as the 1st of a month is when its third working day is still to come.
 */
export function firstOccurrence(
  rule: RecurringRule,
  off: DaysOff | null,
  now: number,
): NextOccurrence | null {
  // A start that is not past fires itself.
  const from = rule.start !== undefined && rule.start >= now ? rule.start - 1 : now
  if (off === null || rule.exclude?.move === undefined) return occurrenceAfter(rule, off, from)
  let occurrence = occurrenceFrom(rule, off, earliestNominal(rule, off, from))
  while (occurrence !== null && occurrence.at <= from)
    occurrence = occurrenceAfter(rule, off, occurrence.nominal)
  return occurrence
}

/** The start of the first day from which an instant could land on the day of `from`, or later: found by halving. */
function earliestNominal(rule: RecurringRule, off: DaysOff, from: number): number {
  const today = localDay(rule.timezone, from)
  let [low, high] = [Math.max(0, today - 2 * SEARCH_DAYS_MAX), today + 2 * SEARCH_DAYS_MAX]
  const reaches = (day: number) => (movedDay(rule.exclude!, off, day) ?? Number.NEGATIVE_INFINITY) >= today
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (reaches(middle)) high = middle
    else low = middle + 1
  }
  return Math.max(0, startOfDay(rule.timezone, low, 0))
}
