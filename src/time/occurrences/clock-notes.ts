import { DAY_MS, formatDuration } from '../durations/index.ts'
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
  repetitionAt,
  skippedWallTimeAt,
  zoned,
} from '../zones/index.ts'

/** How many clock changes between two instants of a rule get a note. */
const CHANGES_MAX = 20

/**
 * Describes what clock changes do to an instant of a recurring rule, and which wall times they skipped since `before`;
 * undefined if nothing. Fixed intervals are not affected.
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

/** For an instant to which a wall time inside a gap was shifted. */
function shiftNote(nextWallTime: NextWallTime, zone: string, at: number): string | undefined {
  const skipped = skippedWallTimeAt(zone, at)
  if (skipped === null || !isNamed(nextWallTime, skipped)) return undefined
  const wall = zoned('UTC', skipped).toPlainDateTime()
  const together = isNamed(nextWallTime, at + offsetPeriodAt(zone, at).offset)
  return gapNote(
    wall,
    zone,
    `it ${together ? 'falls together with' : 'fires at'} ${formatTimeOfDay(zoned(zone, at))}`,
  )
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
