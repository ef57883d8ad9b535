import { type DaysOff, movedNote } from '../calendars/index.ts'
import { DAY_MS } from '../durations/index.ts'
import { type RecurringRule, scheduleOf } from '../rules/index.ts'
import { formatDay, formatTimeOfDay, gapNote, localDay, startOfDay, zoned } from '../zones/index.ts'
import { clockNote } from './clock-notes.ts'
import { countBetween } from './count-between.ts'
import { type NextOccurrence, writtenTimeOfDay } from './next-occurrence.ts'

const COUNTED_MAX = 10_000
/** Weekends repeat the same reasons, so a bounded number of days is enough. */
const DAYS_EXAMINED_MAX = 100

/** Describes what days off and clock changes did to an occurrence, and what they skipped since `before`. */
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
function skippedNote(rule: RecurringRule, off: DaysOff, { at, nominal }: NextOccurrence): string {
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
  const wall = localDay(rule.timezone, at) * DAY_MS + writtenTimeOfDay(rule, nominal)
  const written = zoned('UTC', wall).toPlainDateTime()
  if (local.toPlainDateTime().equals(written)) return ''
  return gapNote(written, rule.timezone, `it fires at ${formatTimeOfDay(local)}`)
}
