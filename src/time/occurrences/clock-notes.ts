import { formatDuration } from '../durations/index.ts'
import { instantsOf, type RecurringRule } from '../rules/index.ts'
import {
  DST_DEFAULT,
  formatTimeOfDay,
  gapNote,
  type Instants,
  type NextWallTime,
  type OffsetPeriod,
  offsetPeriodAt,
  overlapNote,
  zoned,
} from '../zones/index.ts'

/** Clock changes looked at between two instants of a rule; rarer rules say less. */
const CHANGES_MAX = 20
const DAY_MS = 86_400_000

/**
 * Says what clock changes do to an instant of a recurring rule, or did to those skipped since the moment before it;
 * undefined where they do nothing. Fixed intervals do not care.
 */
export function clockNote(rule: RecurringRule, at: number, before: number): string | undefined {
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

/** An interval that no longer fires at the times written, because the clock changed since midnight. */
function spacingNote(nextWallTime: NextWallTime, zone: string, at: number): string | undefined {
  const { start, offset, offsetBefore } = offsetPeriodAt(zone, at)
  const changedToday = at - start < 2 * DAY_MS
  if (!changedToday || isNamed(nextWallTime, at + offset)) return undefined
  const change = formatDuration(Math.abs(offset - offsetBefore))
  const way = offset > offsetBefore ? 'forward' : 'back'
  return `the clock went ${way} by ${change} in ${zone}: it keeps its real spacing until midnight`
}

/** Wall times that do not exist and are skipped, at the changes in (before, at]. */
function skippedNotes(nextWallTime: NextWallTime, zone: string, before: number, at: number): string[] {
  const notes: string[] = []
  let period = offsetPeriodAt(zone, at)
  for (let change = 0; change < CHANGES_MAX && period.start > before; change++) {
    const first = nextWallTime(period.start + period.offsetBefore - 1)
    if (first !== null && first < period.start + period.offset)
      notes.unshift(skippedNote(first, nextWallTime, period, zone))
    period = offsetPeriodAt(zone, period.start - 1)
  }
  return notes
}

function skippedNote(
  first: number,
  nextWallTime: NextWallTime,
  { start, offset }: OffsetPeriod,
  zone: string,
): string {
  const wall = zoned('UTC', first).toPlainDateTime()
  const second = nextWallTime(first)
  const more = second !== null && second < start + offset ? ' and what follows in the gap' : ''
  return `${wall.toPlainDate()} ${formatTimeOfDay(wall)}${more} does not exist in ${zone}, the clock goes forward: skipped`
}

/** An instant to which a wall time inside a gap was moved. */
function shiftNote(nextWallTime: NextWallTime, zone: string, at: number): string | undefined {
  const { start, offset, offsetBefore } = offsetPeriodAt(zone, at)
  const missing = at + offsetBefore
  if (at >= start + offset - offsetBefore || !isNamed(nextWallTime, missing)) return undefined
  const wall = zoned('UTC', missing).toPlainDateTime()
  const together = isNamed(nextWallTime, at + offset)
  return gapNote(
    wall,
    zone,
    `it ${together ? 'falls together with' : 'fires at'} ${formatTimeOfDay(zoned(zone, at))}`,
  )
}

/** An instant whose wall time occurs twice. */
function overlapOccurrenceNote({ next }: Instants, zone: string, at: number): string | undefined {
  const { start, end, offset, offsetBefore } = offsetPeriodAt(zone, at)
  const local = zoned(zone, at).toPlainDateTime()
  const wentBack = offsetBefore - offset
  if (wentBack > 0 && at < start + wentBack) {
    const earlier = at - wentBack
    return overlapNote(
      local,
      zone,
      wentBack,
      next(earlier - 1) === earlier ? 'this is the second of both' : 'this is the last',
    )
  }
  const goesBack = end === Number.POSITIVE_INFINITY ? 0 : offset - offsetPeriodAt(zone, end).offset
  if (goesBack <= 0 || at < end - goesBack) return undefined
  const later = at + goesBack
  return overlapNote(
    local,
    zone,
    goesBack,
    next(later - 1) === later ? 'this is the first of both' : 'this is the first',
  )
}

function isNamed(nextWallTime: NextWallTime, wall: number): boolean {
  return nextWallTime(wall - 1) === wall
}
