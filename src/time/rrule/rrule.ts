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

/** What a recurrence is read against. A rule of Wakeful is one. */
export interface RruleContext {
  /** The zone of a recurrence whose DTSTART names none. */
  timezone: string
  /** DTSTART where none is given, to the second: the start, or else the instant of creation. */
  anchor: number
  /**
   * Whether the anchor was asked for as a start. Then it is the first occurrence if it matches; an instant of creation
   * never is one, nor does COUNT count it: what is set fires later.
   */
  start?: number
}

/** A recurrence, compiled. Wall times are the epoch milliseconds they would be in UTC. */
export interface CompiledRrule {
  /** The first wall time strictly after another, all applied but clock changes; null where there is none. */
  nextWallTime(wall: number): number | null
  /** How many wall times lie in [from, to); absent where that takes going through them. */
  countWallTimes?(from: number, to: number): number
  /** The real spacing of a fixed interval; null for what follows the wall clock. */
  everyMs: number | null
  /** The instants of a fixed interval, which need no wall clock; null for what follows it. */
  instants: Instants | null
  /**
   * True where it repeats by hours or less and names no hour: then every hour that passes counts, the repeated one too,
   * and nothing is shifted out of a gap. For fixed intervals it does not matter.
   */
  everyHour: boolean
}

interface Known {
  read: RruleText
  compiled: Map<string, CompiledRrule>
}

const known = new Map<string, Known>()
const KNOWN_MAX = 500
const COMPILED_PER_TEXT_MAX = 10

/**
 * Compiles a recurrence of RFC 5545, or refuses one that never fires. The costly parts are kept.
 *
 * What the RFC leaves open: a DTSTART that does not match its RRULE is no occurrence; the nth of BYSETPOS is counted
 * from the beginning of the period, also of the one DTSTART is in; BYWEEKNO without a day means the weekday of DTSTART,
 * and a year has the days of its calendar, whatever year their week belongs to; an UNTIL or EXDATE without a time means
 * the whole day, an RDATE without a time has that of DTSTART.
 */
export function compileRrule(text: string, context: RruleContext): CompiledRrule {
  const entry = lookUp(text)
  const { read, compiled } = entry
  const zone = read.timezone ?? context.timezone
  // The anchor counts by its second alone, so that those of one moment share what is compiled.
  const key = read.start === undefined ? `${zone} ${startOf(context)} ${context.start !== undefined}` : zone
  let found = compiled.get(key)
  if (found === undefined) {
    found = compile(text, read, zone, context)
    if (compiled.size >= COMPILED_PER_TEXT_MAX) compiled.clear()
    compiled.set(key, found)
  }
  return found
}

function lookUp(text: string): Known {
  let entry = known.get(text)
  if (entry === undefined) entry = { read: parseRrule(text), compiled: new Map() }
  else known.delete(text)
  // Set again at the end: the map's order is then the order of use, and its head the one to drop.
  known.set(text, entry)
  if (known.size > KNOWN_MAX) known.delete(known.keys().next().value!)
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
    everyMs,
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

/** The whole second an anchor stands for: up, never down, where it was asked for, since nothing is before a start. */
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

function neverFiresError(text: string, why: string): WakefulError {
  return new WakefulError('invalid_rule', `${quote(text)} never fires: ${why}`)
}
