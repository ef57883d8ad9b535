import { clockNote } from './clock-notes.ts'
import { countBetween } from './count-between.ts'
import type { DaysOff } from './days-off.ts'
import { movedNote } from './landing.ts'
import { formatDay, localDay } from './local-day.ts'
import type { RecurringRule } from './rule.ts'
import { type Standing, writtenTime } from './standing.ts'
import { shiftedNote, showClock, zoned } from './wall-time.ts'

const DAY_MS = 86_400_000
const COUNTED_MAX = 10_000

/** Says what days off and clock changes did to a standing, or to what was skipped since the moment before it. */
export function standingNotes(
  rule: RecurringRule,
  off: DaysOff | null,
  standing: Standing,
  before: number,
): string[] {
  const { at, nominal } = standing
  if (off === null || at === nominal) return [clockNote(rule, at, before) ?? '']
  if (rule.exclude?.move === undefined) {
    return [skippedNote(rule, off, standing), clockNote(rule, at, before) ?? '']
  }
  return [movedNote(rule.exclude, off, localDay(rule.timezone, nominal)), gapNote(rule, standing)]
}

/** "2026-12-25 is off, Christmas Day (us-holidays): skipped", or how many ticks a run of days off takes. */
function skippedNote(rule: RecurringRule, off: DaysOff, { at, nominal }: Standing): string {
  const { count, last, exact } = countBetween(rule, nominal - 1, at - 1, COUNTED_MAX)
  const [from, to] = [localDay(rule.timezone, nominal), localDay(rule.timezone, last ?? nominal)]
  const ticks = `${exact ? '' : 'more than '}${count} ticks`
  if (from === to)
    return `${formatDay(from)} is off, ${off.why(from)}: ${count === 1 ? '' : `${ticks} `}skipped`
  return `${formatDay(from)} to ${formatDay(to)}, ${ticks} on days off: skipped`
}

/** A moved instant whose time of day does not exist on the day it moved to. */
function gapNote(rule: RecurringRule, { at, nominal }: Standing): string {
  const local = zoned(rule.timezone, at)
  const wall = localDay(rule.timezone, at) * DAY_MS + writtenTime(rule, nominal)
  const written = zoned('UTC', wall).toPlainDateTime()
  if (local.toPlainDateTime().equals(written)) return ''
  return shiftedNote(written, rule.timezone, `it fires at ${showClock(local)}`)
}
