import { WakefulError } from '../../error.ts'
import { DAY_S } from '../civil/index.ts'
import { Cache, quote } from '../text/index.ts'
import { fixedInterval, type Instants, offsetPeriodAt, type WallTimes, wallTimesOf } from '../zones/index.ts'
import { datesOf, instantOf, wallSecondsOf } from './moment.ts'
import type { RruleParts } from './parts.ts'
import { countInSet, instancesOf, nextInSet, type RruleOrigin, UNIT_S } from './recurrence-set.ts'
import { parseRrule, type RruleText } from './text.ts'

/** The zone and start of a recurrence. A stored rule is one. */
export interface RruleContext {
  /** The zone of a recurrence whose DTSTART names none. */
  timezone: string
  /** The default DTSTART, to the second: the start, or else the instant of creation. */
  anchor: number
  /**
   * Present if the anchor is the user's start, which is then the first occurrence if it matches. An instant of creation
   * never is one, and COUNT does not count it: a new alarm fires later.
   */
  start?: number
}

/** A compiled recurrence. */
export interface CompiledRrule {
  /** The wall times, before clock changes. */
  wallTimes: WallTimes
  /** The instants of a fixed interval; null for recurrences that follow the wall clock. */
  instants: Instants | null
  /**
   * True if it repeats hourly or more often and names no hour. Then every hour that passes counts, the repeated one too,
   * and nothing is shifted out of a gap. Not used for fixed intervals.
   */
  everyHour: boolean
}

const parsed = new Cache<string, RruleText>(500)
const compiled = new Cache<string, CompiledRrule>(1000)

/**
 * Compiles a recurrence of RFC 5545, or refuses one that never fires. Compiled recurrences are cached.
 *
 * Where the RFC leaves a choice:
 * - A DTSTART that does not match its RRULE is no occurrence.
 * - BYSETPOS counts from the beginning of the period, even in the period of DTSTART.
 * - BYWEEKNO without a day means the weekday of DTSTART. A day belongs to its calendar year, whatever the year of its week.
 * - UNTIL and EXDATE without a time mean the whole day. RDATE without a time has that of DTSTART.
 */
export function compileRrule(text: string, context: RruleContext): CompiledRrule {
  const read = parsed.get('', text, () => parseRrule(text))
  const zone = read.timezone ?? context.timezone
  // The anchor counts in whole seconds, so alarms of the same second share a compiled recurrence.
  const key = read.start === undefined ? `${zone} ${startOf(context)} ${context.start !== undefined}` : zone
  return compiled.get(text, key, () => compile(text, read, zone, context))
}

function compile(text: string, read: RruleText, zone: string, context: RruleContext): CompiledRrule {
  const origin = originOf(read, zone, context)
  const rules = read.rules.map((parts) => instancesOf(parts, origin, zone, read.rules.length))
  const dates = datesOf(read, origin.startS, (moment) => wallSecondsOf(moment, zone))
  const from = nextInSet(rules, dates, (found) => {
    const day = Math.floor(found / DAY_S)
    return dates.removedDays.has(day) ? (day + 1) * DAY_S : null
  })
  const everyS = rruleInterval(read)
  const instants = everyS === null ? null : intervalInstants(read, everyS, origin, zone)
  for (const rule of rules) {
    if (rule.first === null)
      throw new WakefulError('rule.never_fires', { text: quote(text) }, { field: 'rrule' })
    if (rule.from(rule.first) === null)
      throw new WakefulError('rule.until_before_first', { text: quote(text) }, { field: 'rrule' })
  }
  const fires = instants === null ? from : instants.next
  if (fires(Number.NEGATIVE_INFINITY) === null)
    throw new WakefulError('rule.all_removed', { text: quote(text) }, { field: 'rrule' })
  const [only, another] = rules
  const count =
    only === undefined || another !== undefined
      ? undefined
      : (low: number, high: number) => countInSet(only, dates, low, high)
  return {
    wallTimes: wallTimesOf(from, count),
    instants,
    everyHour: read.rules.length > 0 && read.rules.every(namesNoHour),
  }
}

function namesNoHour({ freq, byHour }: RruleParts): boolean {
  return byHour === undefined && (freq === 'HOURLY' || freq === 'MINUTELY' || freq === 'SECONDLY')
}

function originOf({ start }: RruleText, zone: string, context: RruleContext): RruleOrigin {
  if (start !== undefined) {
    const { second } = start
    return { startS: second, startAt: instantOf({ kind: 'local', second }, zone) * 1000, fromS: second }
  }
  const startAt = startOf(context)
  const startS = (startAt + offsetPeriodAt(zone, startAt).offset) / 1000
  return { startS, startAt, fromS: context.start === undefined ? startS + 1 : startS }
}

/** The anchor in whole seconds. A start is rounded up, because nothing fires before it. */
function startOf({ anchor, start }: RruleContext): number {
  return (start === undefined ? Math.floor(anchor / 1000) : Math.ceil(anchor / 1000)) * 1000
}

/**
 * The interval in seconds of a recurrence with a fixed one: a single RRULE of hours, minutes or seconds without BY parts.
 * Null for recurrences that follow the wall clock.
 */
export function rruleInterval({ rules }: RruleText): number | null {
  const [parts, another] = rules
  if (parts === undefined || another !== undefined || parts.freq === 'DAILY') return null
  const unitS = UNIT_S[parts.freq]
  if (unitS === undefined || Object.keys(parts).some((name) => name.startsWith('by'))) return null
  return parts.interval * unitS
}

/** The instants of a recurrence with a fixed interval, which clock changes do not affect. */
function intervalInstants(
  read: RruleText,
  everyS: number,
  { startS, startAt, fromS }: RruleOrigin,
  zone: string,
): Instants {
  const first = startAt / 1000 + (fromS > startS ? everyS : 0)
  const steps = fixedInterval(first, everyS, lastOf(read.rules[0]!, first, everyS, zone))
  const dates = datesOf(read, startS, (moment) => [instantOf(moment, zone)])
  const from = nextInSet([{ from: (second) => steps.next(second - 1) }], dates, (found) =>
    endOfDayIn(dates.removedDays, found, zone),
  )
  const { next } = wallTimesOf(from)
  if (read.added.length + read.removed.length > 0) return { next }
  const count = (after: number, until: number) =>
    steps.count(Math.floor(after / 1000), Math.floor(until / 1000))
  return { next, count }
}

function lastOf({ count, until }: RruleParts, first: number, everyS: number, zone: string): number {
  if (count !== undefined) return first + (count - 1) * everyS
  if (until === undefined) return Number.POSITIVE_INFINITY
  // A day counts to its end, whatever its length.
  if (until.kind === 'date') return instantOf({ kind: 'local', second: until.second + DAY_S }, zone) - 1
  return instantOf(until, zone)
}

/** The end of the day of a second, or of its offset period if that is earlier; null if it is not one of these days. */
function endOfDayIn(days: ReadonlySet<number>, second: number, zone: string): number | null {
  if (days.size === 0) return null
  const { offset, end } = offsetPeriodAt(zone, second * 1000)
  const day = Math.floor((second + offset / 1000) / DAY_S)
  return days.has(day) ? Math.min((day + 1) * DAY_S - offset / 1000, end / 1000) : null
}
