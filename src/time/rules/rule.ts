import { type Exclusion, isExclusion } from '../calendars/index.ts'
import { DAY_MS, parseStep } from '../durations/index.ts'
import { RRULE_LENGTH_MAX } from '../rrule/index.ts'
import { TEXT_LENGTH_MAX } from '../text/index.ts'
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

type Check = (value: unknown) => boolean
type Shape = Record<string, Check>

const isInstant: Check = (value) =>
  Number.isInteger(value) && (value as number) >= INSTANT_MIN && (value as number) <= INSTANT_MAX
const textUpTo =
  (lengthMax: number): Check =>
  (value) =>
    typeof value === 'string' && value !== '' && value.length <= lengthMax
const isText = textUpTo(TEXT_LENGTH_MAX)
const isRruleText = textUpTo(RRULE_LENGTH_MAX)
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 1
const isJitter: Check = (value) => isCount(value) && (value as number) <= JITTER_MS_MAX
const isPlainMisfire: Check = (value) => value === 'once' || value === 'skip'
const isAll = objectOf({ max: isCount, withinMs: isCount })
const isMisfire: Check = (value) => isPlainMisfire(value) || objectOf({ all: isAll })(value)
const isDst = objectOf({
  gap: (value) => value === 'shift' || value === 'skip',
  overlap: (value) => value === 'first' || value === 'last' || value === 'both',
})

const RECURRENCE: Shape = {
  start: isInstant,
  end: isInstant,
  count: isCount,
  jitterMs: isJitter,
  misfire: isMisfire,
  exclude: isExclusion,
}
const ON_WALL_CLOCK: Shape = { ...RECURRENCE, dst: isDst }

/** The required and optional fields per shape of rule, besides kind and timezone. */
const SHAPES: Record<string, [required: Shape, optional: Shape]> = {
  once: [{ at: isInstant }, { wall: Number.isSafeInteger, misfire: isPlainMisfire }],
  every: [{ every: isText, everyMs: isCount, anchor: isInstant }, RECURRENCE],
  months: [{ every: isText, everyMonths: isCount, anchor: isInstant }, ON_WALL_CLOCK],
  cron: [{ cron: isText, anchor: isInstant }, ON_WALL_CLOCK],
  rrule: [{ rrule: isRruleText, anchor: isInstant }, ON_WALL_CLOCK],
}
const KINDS: readonly unknown[] = ['once', 'every', 'cron', 'rrule']

/**
 * Whether a value from a database is a valid rule. Unknown fields make it invalid, because a newer version wrote them
 * and they may change when the alarm fires.
 */
export function isRule(value: unknown): value is Rule {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const row = value as Record<string, unknown>
  if (!KINDS.includes(row.kind)) return false
  const [required, optional] = SHAPES[Object.hasOwn(row, 'everyMonths') ? 'months' : (row.kind as string)]!
  const kind: Check = (input) => input === (Object.hasOwn(required, 'everyMonths') ? 'every' : row.kind)
  return objectOf({ ...required, kind, timezone: isText }, optional)(row) && isConsistent(value as Rule)
}

/** A check for plain objects with these fields and no others. */
function objectOf(required: Shape, optional: Shape = {}): Check {
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
    const row = value as Record<string, unknown>
    return (
      Object.entries(required).every(([name, check]) => Object.hasOwn(row, name) && check(row[name])) &&
      Object.entries(optional).every(([name, check]) => row[name] === undefined || check(row[name])) &&
      Object.keys(row).every((name) => Object.hasOwn(required, name) || Object.hasOwn(optional, name))
    )
  }
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
