import { type DaysOff, movedNote } from '../calendars/index.ts'
import { type RecurringRule, scheduleOf } from '../rules/index.ts'
import { formatDay, formatTimeOfDay, gapNote, localDay, startOfDay, zoned } from '../zones/index.ts'
import { clockNote } from './clock-notes.ts'
import { countBetween } from './count-between.ts'
import { type NextOccurrence, writtenTimeOfDay } from './next-occurrence.ts'

const DAY_MS = 86_400_000
const COUNTED_MAX = 10_000
/** Weekends name themselves over and over: so many days say enough. */
const DAYS_LOOKED_AT = 100

/** Says what days off and clock changes did to a standing, or to what was skipped since the moment before it. */
export function occurrenceNotes(
  rule: RecurringRule,
  off: DaysOff | null,
  occurrence: NextOccurrence,
  before: number,
): string[] {
  const { at, nominal } = occurrence
  if (off === null || at === nominal) return [clockNote(rule, at, before) ?? '']
  if (rule.exclude?.move === undefined) {
    return [skippedNote(rule, off, occurrence), clockNote(rule, at, before) ?? '']
  }
  return [movedNote(rule.exclude, off, localDay(rule.timezone, nominal)), movedGapNote(rule, occurrence)]
}

/** Why the days are off on which a rule's instants in [from, to] fall: each word once, the first few. */
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
  for (let days = 0; at !== null && at <= to && days < DAYS_LOOKED_AT && reasons.size < most; days++) {
    const day = localDay(rule.timezone, at)
    const why = off.reason(day)
    if (why !== undefined) reasons.add(why)
    at = schedule.next(startOfDay(rule.timezone, day + 1, at + 1) - 1)
  }
  return [...reasons]
}

/** "2026-12-25 is off, Christmas Day (us-holidays): skipped", or how many ticks a run of days off takes. */
function skippedNote(rule: RecurringRule, off: DaysOff, { at, nominal }: NextOccurrence): string {
  const { count, last, exact } = countBetween(rule, nominal - 1, at - 1, COUNTED_MAX)
  const [from, to] = [localDay(rule.timezone, nominal), localDay(rule.timezone, last ?? nominal)]
  const ticks = `${exact ? '' : 'more than '}${count} ticks`
  if (from === to)
    return `${formatDay(from)} is off, ${off.reason(from)}: ${count === 1 ? '' : `${ticks} `}skipped`
  return `${formatDay(from)} to ${formatDay(to)}, ${ticks} on days off: skipped`
}

/** A moved instant whose time of day does not exist on the day it moved to. */
function movedGapNote(rule: RecurringRule, { at, nominal }: NextOccurrence): string {
  const local = zoned(rule.timezone, at)
  const wall = localDay(rule.timezone, at) * DAY_MS + writtenTimeOfDay(rule, nominal)
  const written = zoned('UTC', wall).toPlainDateTime()
  if (local.toPlainDateTime().equals(written)) return ''
  return gapNote(written, rule.timezone, `it fires at ${formatTimeOfDay(local)}`)
}
