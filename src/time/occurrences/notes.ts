import { type DaysOff, movedNote } from '../calendars/index.ts'
import { DAY_MS, formatDuration } from '../durations/index.ts'
import { instantsOf, type RecurringRule, scheduleOf } from '../rules/index.ts'
import {
  DST_DEFAULT,
  formatDay,
  formatTimeOfDay,
  gapNote,
  type Instants,
  localDay,
  type NextWallTime,
  offsetPeriodAt,
  overlapNote,
  plainTime,
  repetitionAt,
  skippedWallTimeAt,
  startOfDay,
  zoned,
} from '../zones/index.ts'
import { countBetween } from './count-between.ts'
import { type NextOccurrence, writtenTimeOfDay } from './next-occurrence.ts'

const COUNTED_MAX = 10_000
/** Weekends repeat the same reasons, so a bounded number of days is enough. */
const DAYS_EXAMINED_MAX = 100
/** How many clock changes between two instants of a rule get a note. */
const CHANGES_MAX = 20

/** Describes what days off and clock changes did to an occurrence, and what they skipped since `before`. */
export function occurrenceNotes(
  rule: RecurringRule,
  off: DaysOff | null,
  occurrence: NextOccurrence,
  before: number,
): string[] {
  const { at, nominal } = occurrence
  const clock = clockChangeNote(rule, occurrence, before)
  if (off === null || at === nominal) return [clock]
  if (rule.exclude?.move === undefined) return [daysOffNote(rule, off, occurrence), clock]
  return [movedNote(rule.exclude, off, localDay(rule.timezone, nominal)), clock]
}

/** Describes what a clock change did to an occurrence, and what it skipped since `before`; empty if nothing. */
export function clockChangeNote(rule: RecurringRule, occurrence: NextOccurrence, before: number): string {
  const { at, nominal } = occurrence
  const isMoved = at !== nominal && rule.exclude?.move !== undefined
  return isMoved ? movedGapNote(rule, occurrence) : (clockNote(rule, at, before) ?? '')
}

/** The distinct reasons why the rule's instants in [from, to] are on days off, at most `most` of them. */
export function daysOffBetween(
  rule: RecurringRule,
  off: DaysOff,
  from: number,
  to: number,
  most: number,
): string[] {
  const schedule = scheduleOf(rule)
  const reasons = new Set<string>()
  let at: number | null = from
  for (let days = 0; at !== null && at <= to && days < DAYS_EXAMINED_MAX && reasons.size < most; days++) {
    const day = localDay(rule.timezone, at)
    const reason = off.reason(day)
    if (reason !== undefined) reasons.add(reason)
    at = schedule.next(startOfDay(rule.timezone, day + 1, at + 1) - 1)
  }
  return [...reasons]
}

/** "2026-12-25 is off, Christmas Day (us-holidays): skipped", or how many ticks a run of days off skips. */
function daysOffNote(rule: RecurringRule, off: DaysOff, { at, nominal }: NextOccurrence): string {
  const { count, last, exact } = countBetween(rule, nominal - 1, at - 1, COUNTED_MAX)
  const [from, to] = [localDay(rule.timezone, nominal), localDay(rule.timezone, last ?? nominal)]
  const ticks = `${exact ? '' : 'more than '}${count} ticks`
  if (from === to)
    return `${formatDay(from)} is off, ${off.reason(from)}: ${count === 1 ? '' : `${ticks} `}skipped`
  return `${formatDay(from)} to ${formatDay(to)}, ${ticks} on days off: skipped`
}

/** For a moved instant whose time of day does not exist on its new day. */
function movedGapNote(rule: RecurringRule, { at, nominal }: NextOccurrence): string {
  const local = zoned(rule.timezone, at)
  const written = plainTime(localDay(rule.timezone, at) * DAY_MS + writtenTimeOfDay(rule, nominal))
  if (local.toPlainDateTime().equals(written)) return ''
  return gapNote(written, rule.timezone, `it fires at ${formatTimeOfDay(local)}`)
}

/**
 * Describes what clock changes do to an instant of a recurring rule, and which wall times they skipped since `before`;
 * undefined if nothing. Fixed intervals are not affected.
 */
function clockNote(rule: RecurringRule, at: number, before: number): string | undefined {
  const instants = instantsOf(rule)
  const { nextWallTime } = instants
  if (nextWallTime === undefined) return undefined
  const zone = rule.timezone
  if (instants.interval) return spacingNote(nextWallTime, zone, at)
  const policy = ('dst' in rule ? rule.dst : undefined) ?? DST_DEFAULT
  const notes = policy.gap === 'skip' ? skippedNotes(nextWallTime, zone, before, at) : []
  const shifted = policy.gap === 'shift' ? shiftNote(nextWallTime, zone, at) : undefined
  const own = shifted ?? overlapOccurrenceNote(instants, zone, at)
  return [...notes, ...(own === undefined ? [] : [own])].join('; ') || undefined
}

/** For an interval that fires off its written times, because the clock changed since midnight. */
function spacingNote(nextWallTime: NextWallTime, zone: string, at: number): string | undefined {
  const { start, offset, offsetBefore } = offsetPeriodAt(zone, at)
  const changedToday = at - start < 2 * DAY_MS
  if (!changedToday || isNamed(nextWallTime, at + offset)) return undefined
  const change = formatDuration(Math.abs(offset - offsetBefore))
  const way = offset > offsetBefore ? 'forward' : 'back'
  return `the clock went ${way} by ${change} in ${zone}: it keeps its real spacing until midnight`
}

/** For wall times that do not exist and are skipped, at the changes in (before, at]. */
function skippedNotes(nextWallTime: NextWallTime, zone: string, before: number, at: number): string[] {
  const notes: string[] = []
  let period = offsetPeriodAt(zone, at)
  for (let change = 0; change < CHANGES_MAX && period.start > before; change++) {
    const { start, offset, offsetBefore } = period
    const isInGap = (wall: number | null): wall is number => wall !== null && wall < start + offset
    const first = nextWallTime(start + offsetBefore - 1)
    if (isInGap(first)) {
      const wall = plainTime(first)
      const more = isInGap(nextWallTime(first)) ? ' and what follows in the gap' : ''
      const what = `${wall.toPlainDate()} ${formatTimeOfDay(wall)}${more}`
      notes.unshift(`${what} does not exist in ${zone}, the clock goes forward: skipped`)
    }
    period = offsetPeriodAt(zone, start - 1)
  }
  return notes
}

/** For an instant to which a wall time inside a gap was shifted. */
function shiftNote(nextWallTime: NextWallTime, zone: string, at: number): string | undefined {
  const skipped = skippedWallTimeAt(zone, at)
  if (skipped === null || !isNamed(nextWallTime, skipped)) return undefined
  const together = isNamed(nextWallTime, at + offsetPeriodAt(zone, at).offset)
  const verb = together ? 'falls together with' : 'fires at'
  return gapNote(plainTime(skipped), zone, `it ${verb} ${formatTimeOfDay(zoned(zone, at))}`)
}

/** For an instant whose wall time occurs twice. */
function overlapOccurrenceNote({ next }: Instants, zone: string, at: number): string | undefined {
  const repetition = repetitionAt(zone, at)
  if (repetition === null) return undefined
  const { backMs, isSecond } = repetition
  const other = isSecond ? at - backMs : at + backMs
  const firesTwice = next(other - 1) === other
  const which = isSecond ? (firesTwice ? 'second' : 'last') : 'first'
  const local = zoned(zone, at).toPlainDateTime()
  return overlapNote(local, zone, backMs, `this is the ${which}${firesTwice ? ' of both' : ''}`)
}

function isNamed(nextWallTime: NextWallTime, wall: number): boolean {
  return nextWallTime(wall - 1) === wall
}
