import { type DaysOff, movedDay, SEARCH_DAYS_MAX } from '../calendars/index.ts'
import { measureSearchWork } from '../clock/index.ts'
import { DAY_MS } from '../durations/index.ts'
import { instantsOf, type RecurringRule, type Schedule, scheduleOf } from '../rules/index.ts'
import {
  INSTANT_MAX,
  instantOfWallTime,
  localDay,
  offsetPeriodAt,
  skippedWallTimeAt,
  startOfDay,
} from '../zones/index.ts'
import { newestUpTo } from './count-between.ts'

/** The next occurrence of a recurring rule: when it fires (`at`), and the rule's own instant it comes from (`nominal`). */
export interface NextOccurrence {
  readonly at: number
  readonly nominal: number
}

/** Runs of days off that a search crosses before it gives up: forty years of weekends. */
const RUNS_MAX = 2000
/** Search work for one occurrence: twice the limit of a single search. */
const WORK_MAX = 120_000
/** Ticks examined for one that can move to a working day, or to another one, before a search gives up. */
const TICKS_MAX = 5000

/**
 * The occurrence after the rule's own instant `nominal`, which may also be any time before the first. Null if the rule
 * has no more.
 */
export function occurrenceAfter(
  rule: RecurringRule,
  off: DaysOff | null,
  nominal: number,
): NextOccurrence | null {
  const isOwn =
    off !== null && rule.exclude?.move !== undefined && scheduleOf(rule).next(nominal - 1) === nominal
  const movedTo = isOwn ? movedDayOf(rule, off, nominal) : null
  return findOccurrence(rule, off, nominal, movedTo ?? Number.NEGATIVE_INFINITY)
}

/**
 * The occurrence of the rule's first own instant at or after `nominal`; used after a calendar was edited. If the rule
 * moves back, `at` may then be in the past, or on the day of the last occurrence.
 */
export function occurrenceFrom(
  rule: RecurringRule,
  off: DaysOff | null,
  nominal: number,
): NextOccurrence | null {
  return findOccurrence(rule, off, nominal - 1, Number.NEGATIVE_INFINITY)
}

/** The occurrence of the first own instant after another; if the rule moves, on a day after `dayAfter`. */
function findOccurrence(
  rule: RecurringRule,
  off: DaysOff | null,
  after: number,
  dayAfter: number,
): NextOccurrence | null {
  const schedule = scheduleOf(rule)
  const next = schedule.next(after)
  if (next === null) return null
  if (off === null || rule.exclude === undefined) return { at: next, nominal: next }
  if (rule.exclude.move === undefined) return skipDaysOff(rule, schedule, off, next)
  return moveOffDaysOff(rule, schedule, off, next, dayAfter)
}

/**
 * The occurrence after another. A rule that skips continues from the instant that fired, because those before it were
 * skipped. A rule that moves continues from its own instant, because others may be before the day it moved to.
 */
export function followingOccurrence(
  rule: RecurringRule,
  off: DaysOff | null,
  from: NextOccurrence,
): NextOccurrence | null {
  return occurrenceAfter(rule, off, rule.exclude?.move === undefined ? from.at : from.nominal)
}

/** Whether the rule's own instant is on a day off. */
export function isOnDayOff(rule: RecurringRule, off: DaysOff | null, at: number): boolean {
  return off?.isOff(localDay(rule.timezone, at)) ?? false
}

/** The newest of the rule's instants in (after, until] that is on a working day; null if there is none. */
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
    const open = off.workingDay(day, -1)
    if (open === null) return null
    end = startOfDay(rule.timezone, open + 1, 0) - 1
  }
  return null
}

/**
 * The first instant on a working day, found by jumping over whole runs of days off. If none is left, the rule's last
 * instant, so that the wake at that instant can record that the rest was skipped and the rule ended. If the search gives
 * up, the instant it reached, so that the search continues at that wake.
 */
function skipDaysOff(rule: RecurringRule, schedule: Schedule, off: DaysOff, nominal: number): NextOccurrence {
  const { timezone } = rule
  const work = measureSearchWork()
  let at = nominal
  for (let runs = 0; runs < RUNS_MAX && work() < WORK_MAX; runs++) {
    const day = localDay(timezone, at)
    if (!off.isOff(day)) break
    const open = startOfDay(timezone, off.workingDay(day, 1) ?? day + SEARCH_DAYS_MAX, at + 1)
    const next = schedule.next(open - 1)
    if (next === null) return { at: newestUpTo(schedule, at, open), nominal }
    at = next
  }
  return { at, nominal }
}

/**
 * The first instant, from `nominal` on, that moves to a day after `after`: those that move to the same day fire once.
 * One without any working day for ten years, because a calendar excludes all, waits until then or until an edit of the
 * calendar.
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

/** The last millisecond of the local day of an instant, in the rule's zone. */
export function endOfDay({ timezone }: RecurringRule, at: number): number {
  return startOfDay(timezone, localDay(timezone, at) + 1, at) - 1
}

/** The working day on which an instant of a rule that moves fires; null if there is none. */
export function movedDayOf(rule: RecurringRule, off: DaysOff, nominal: number): number | null {
  return movedDay(rule.exclude!, off, localDay(rule.timezone, nominal))
}

/** The instant moved to another day at the same wall-clock time; unchanged if it is on that day. */
function instantOnDay(rule: RecurringRule, nominal: number, day: number): number | null {
  if (localDay(rule.timezone, nominal) === day) return nominal
  const overlap = 'dst' in rule && rule.dst?.overlap === 'last' ? 'last' : 'first'
  return instantOfWallTime(rule.timezone, day * DAY_MS + writtenTimeOfDay(rule, nominal), overlap)
}

/** The time of day of an instant as the rule writes it, in milliseconds: a clock change may have shifted the instant. */
export function writtenTimeOfDay(rule: RecurringRule, nominal: number): number {
  const skipped = skippedWallTimeAt(rule.timezone, nominal)
  const isShifted = skipped !== null && instantsOf(rule).nextWallTime?.(skipped - 1) === skipped
  const wall = isShifted ? skipped : nominal + offsetPeriodAt(rule.timezone, nominal).offset
  return wall - Math.floor(wall / DAY_MS) * DAY_MS
}

/**
 * The first occurrence of a new rule: it fires after `now`, and not before the rule's start. The instant it comes from
 * may be in the past, like the 1st of a month whose third working day is still to come.
 */
export function firstOccurrence(
  rule: RecurringRule,
  off: DaysOff | null,
  now: number,
): NextOccurrence | null {
  // A start that is not in the past is the first instant.
  const from = rule.start !== undefined && rule.start >= now ? rule.start - 1 : now
  if (off === null || rule.exclude?.move === undefined) return occurrenceAfter(rule, off, from)
  let occurrence = occurrenceFrom(rule, off, earliestNominal(rule, off, from))
  while (occurrence !== null && occurrence.at <= from)
    occurrence = occurrenceAfter(rule, off, occurrence.nominal)
  return occurrence
}

/** The start of the first day from which an instant could move to the day of `from` or later, by bisection. */
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
