import { type Exclusion, isExclusion } from '../calendars/index.ts'
import { DAY_MS, parseStep } from '../durations/index.ts'
import { RRULE_LENGTH_MAX } from '../rrule/index.ts'
import { type Check, objectOf, oneOf, type Shape, TEXT_LENGTH_MAX, wholeFrom } from '../text/index.ts'
import { assertTimezone, type DstPolicy, INSTANT_MAX, INSTANT_MIN } from '../zones/index.ts'
import { scheduleOf } from './schedule.ts'

/** The longest jitter accepted: a day. */
export const JITTER_MS_MAX = DAY_MS

/**
 * What happens to instants that were missed because no process ran: the newest fires (`once`), none does (`skip`), or
 * the newest `max` of those that are at most `withinMs` old (`all`).
 */
export type Misfire = 'once' | 'skip' | { all: { max: number; withinMs: number } }

interface Recurrence {
  /** The instant intervals are counted from. */
  anchor: number
  /** The IANA zone of the rule. */
  timezone: string
  /** No instant is before this one. */
  start?: number
  /** No instant is after this one. */
  end?: number
  /** The total number of occurrences; the caller counts them, not the schedule. */
  count?: number
  /** Each occurrence wakes up to this much later than its scheduled instant. */
  jitterMs?: number
  misfire?: Misfire
  /** A phrase as it was written, with its options. It may count from the day it is read ('monthly'), so it is compared by its words. */
  written?: string
  /** Days off, and what happens on them; the schedule's own instants ignore them. */
  exclude?: Exclusion
}

interface OnWallClock extends Recurrence {
  /** What clock changes do to it; DST_DEFAULT if absent. */
  dst?: DstPolicy
}

/** A normalized `when`: plain data, fit to be stored for decades. Instants are epoch milliseconds. */
export type Rule =
  | {
      kind: 'once'
      at: number
      timezone: string
      /** The local time that the user chose, encoded as if it were UTC. `at` is computed from it again when zone data change. */
      wall?: number
      /** The instant before it was snoozed, by which a later set of the same key knows it. */
      asked?: number
      misfire?: 'once' | 'skip'
    }
  /** `every`, `cron` and `rrule` are stored as the user wrote them. */
  | ({ kind: 'every'; every: string; everyMs: number } & Recurrence)
  | CalendarEvery
  | ({ kind: 'cron'; cron: string } & OnWallClock)
  | ({ kind: 'rrule'; rrule: string } & OnWallClock)

/** An `every` in months or years, counted from the anchor's wall time in the zone. */
export type CalendarEvery = { kind: 'every'; every: string; everyMonths: number } & OnWallClock

/** A rule that can have more than one instant. */
export type RecurringRule = Exclude<Rule, { kind: 'once' }>

const isInstant = wholeFrom(INSTANT_MIN, INSTANT_MAX)
const isCount = wholeFrom(1, Number.MAX_SAFE_INTEGER)
const isPlainMisfire = oneOf('once', 'skip')
const isAll = objectOf({ all: objectOf({ max: isCount, withinMs: isCount }) })
const isText = textUpTo(TEXT_LENGTH_MAX)

function textUpTo(lengthMax: number): Check {
  return (value) => typeof value === 'string' && value !== '' && value.length <= lengthMax
}

const RECURRENCE: Shape = {
  start: isInstant,
  end: isInstant,
  count: isCount,
  jitterMs: wholeFrom(1, JITTER_MS_MAX),
  misfire: (value) => isPlainMisfire(value) || isAll(value),
  exclude: isExclusion,
  written: textUpTo(RRULE_LENGTH_MAX),
}
/** Whether a value is what clock changes do to a rule. */
export const isDstPolicy = objectOf({ gap: oneOf('shift', 'skip'), overlap: oneOf('first', 'last', 'both') })
const ON_WALL_CLOCK: Shape = { ...RECURRENCE, dst: isDstPolicy }

function recurring(kind: string, fields: Shape, optional: Shape): Check {
  return objectOf({ kind: oneOf(kind), ...fields, anchor: isInstant, timezone: isText }, optional)
}

const SHAPES: readonly Check[] = [
  objectOf(
    { kind: oneOf('once'), at: isInstant, timezone: isText },
    { wall: Number.isSafeInteger, asked: isInstant, misfire: isPlainMisfire },
  ),
  recurring('every', { every: isText, everyMs: isCount }, RECURRENCE),
  recurring('every', { every: isText, everyMonths: isCount }, ON_WALL_CLOCK),
  recurring('cron', { cron: isText }, ON_WALL_CLOCK),
  recurring('rrule', { rrule: textUpTo(RRULE_LENGTH_MAX) }, ON_WALL_CLOCK),
]

/**
 * Whether a value from a database is a valid rule. Unknown fields make it invalid, because a newer version wrote them
 * and they may change when the alarm fires.
 */
export function isRule(value: unknown): value is Rule {
  return SHAPES.some((check) => check(value)) && isConsistent(value as Rule)
}

function isConsistent(rule: Rule): boolean {
  try {
    assertTimezone(rule.timezone)
    if (rule.kind === 'every' && !stepAgrees(rule)) return false
    if (rule.kind !== 'once' && (rule.start ?? INSTANT_MIN) > (rule.end ?? INSTANT_MAX)) return false
    scheduleOf(rule)
    return true
  } catch {
    return false
  }
}

/** Whether the step as written and the stored step are still the same. */
function stepAgrees(rule: Extract<Rule, { kind: 'every' }>): boolean {
  const step = parseStep(rule.every)
  return 'everyMs' in rule
    ? 'everyMs' in step && step.everyMs === rule.everyMs
    : 'everyMonths' in step && step.everyMonths === rule.everyMonths
}

/** Parsed rules by their text without the anchor, which is all that differs between alarms with the same rule. */
const known = new Map<string, RecurringRule>()
const KNOWN_MAX = 2_000
const MARK = '"anchor":'
/** An anchor in plain decimal form. Up to 15 digits are exact as a number; longer ones are no instant. */
const ANCHOR = /"anchor":(0|[1-9]\d{0,14})(?!\d)/

/**
 * Parses a rule that was stored as JSON; null if it is no rule. Throws if the text is no JSON. This runs for every row
 * that the engine claims: a rule that is known except for its anchor is not parsed and checked again, which takes 0.4 µs
 * instead of 3. An RRULE that never fires from its own anchor on (no call accepts one) therefore fails only when its next
 * instant is computed.
 */
export function parseRule(text: string): Rule | null {
  const match = ANCHOR.exec(text)
  if (match === null) return checked(text)
  const [mark, digits] = match
  const anchor = Number(digits)
  const shape = text.slice(0, match.index + MARK.length) + text.slice(match.index + mark.length)
  const same = known.get(shape)
  if (same !== undefined && anchor <= INSTANT_MAX) return { ...same, anchor }
  const rule = checked(text)
  // Cached only if the anchor found is the rule's own: not one of two, and not part of another value.
  const isOwn = text.indexOf(MARK) === match.index && text.lastIndexOf(MARK) === match.index
  if (rule === null || rule.kind === 'once' || rule.anchor !== anchor || !isOwn) return rule
  if (known.size >= KNOWN_MAX) known.clear()
  known.set(shape, rule)
  return rule
}

function checked(text: string): Rule | null {
  const value: unknown = JSON.parse(text)
  return isRule(value) ? value : null
}
