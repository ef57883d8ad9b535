import { WakefulError } from '../../error.ts'
import { quote } from '../text/index.ts'
import { type Instants, offsetPeriodAt } from '../zones/index.ts'
import { DAY_S } from './civil-date.ts'
import { intervalInstants, rruleInterval } from './interval.ts'
import { addedDates, instantOf, wallSecondsOf } from './moment.ts'
import type { RruleParts } from './parts.ts'
import { countInSet, instancesOf, nextInSet, type RruleDates, type RruleOrigin } from './recurrence-set.ts'
import { list } from './sequence.ts'
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

/** A compiled recurrence. Wall times are the epoch milliseconds they would be in UTC. */
export interface CompiledRrule {
  /** The first wall time strictly after another, before clock changes; null if there is none. */
  nextWallTime(wall: number): number | null
  /** How many wall times are in [from, to); absent if that needs enumeration. */
  countWallTimes?(from: number, to: number): number
  /** The instants of a fixed interval; null for recurrences that follow the wall clock. */
  instants: Instants | null
  /**
   * True if it repeats hourly or more often and names no hour. Then every hour that passes counts, the repeated one too,
   * and nothing is shifted out of a gap. Not used for fixed intervals.
   */
  everyHour: boolean
}

interface CacheEntry {
  read: RruleText
  compiled: Map<string, CompiledRrule>
}

const cache = new Map<string, CacheEntry>()
const CACHED_MAX = 500
const COMPILED_PER_TEXT_MAX = 10

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
  const entry = lookUp(text)
  const { read, compiled } = entry
  const zone = read.timezone ?? context.timezone
  // The anchor counts in whole seconds, so alarms of the same second share a compiled recurrence.
  const key = read.start === undefined ? `${zone} ${startOf(context)} ${context.start !== undefined}` : zone
  let found = compiled.get(key)
  if (found === undefined) {
    found = compile(text, read, zone, context)
    if (compiled.size >= COMPILED_PER_TEXT_MAX) compiled.clear()
    compiled.set(key, found)
  }
  return found
}

function lookUp(text: string): CacheEntry {
  let entry = cache.get(text)
  if (entry === undefined) entry = { read: parseRrule(text), compiled: new Map() }
  else cache.delete(text)
  // Inserted again, so that the map is in order of use and its first entry is the least recently used.
  cache.set(text, entry)
  if (cache.size > CACHED_MAX) cache.delete(cache.keys().next().value!)
  return entry
}

function compile(text: string, read: RruleText, zone: string, context: RruleContext): CompiledRrule {
  const origin = originOf(read, zone, context)
  const rules = read.rules.map((parts) => instancesOf(parts, origin, zone, read.rules.length))
  const dates = datesOf(read, zone, origin)
  const from = nextInSet(rules, dates)
  const everyMs = rruleInterval(read)
  const instants = everyMs === null ? null : intervalInstants(read, everyMs, origin, zone)
  for (const rule of rules) {
    if (rule.first === null) throw neverFiresError(text, 'no such day and time comes before the year 10000')
    if (rule.from(rule.first) === null)
      throw neverFiresError(text, 'its UNTIL is before its first occurrence')
  }
  const fires = instants === null ? from : instants.next
  if (fires(Number.NEGATIVE_INFINITY) === null)
    throw neverFiresError(text, 'its EXDATEs leave none of its dates')
  const [only, another] = rules
  return {
    nextWallTime(wall) {
      const found = from(Math.floor(wall / 1000) + 1)
      return found === null ? null : found * 1000
    },
    ...(only !== undefined &&
      another === undefined && {
        countWallTimes: (low: number, high: number) =>
          countInSet(only, dates, Math.ceil(low / 1000), Math.ceil(high / 1000)),
      }),
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

function datesOf(read: RruleText, zone: string, { startS }: RruleOrigin): RruleDates {
  const added = addedDates(read, startS).map((moment) => wallSecondsOf(moment, zone).at(-1)!)
  const timed = read.removed.filter(({ kind }) => kind !== 'date')
  const days = read.removed.filter(({ kind }) => kind === 'date')
  return {
    added: list([...new Set(added)].sort((a, b) => a - b)),
    removed: new Set(timed.flatMap((moment) => wallSecondsOf(moment, zone))),
    removedDays: new Set(days.map(({ second }) => second / DAY_S)),
  }
}

function neverFiresError(text: string, detail: string): WakefulError {
  return new WakefulError('rule.never_fires', { text: quote(text), detail })
}
