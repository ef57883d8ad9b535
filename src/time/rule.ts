import { parseDuration } from './duration.ts'
import { INSTANT_MAX, INSTANT_MIN } from './instant.ts'
import { scheduleOf } from './schedule.ts'
import { TEXT_LENGTH_MAX } from './text.ts'
import { assertTimezone } from './timezone.ts'

/** What becomes of instants that passed while nobody was there to fire them. */
export type Misfire = 'once' | 'skip'

interface Recurrence {
  /** IANA zone in which the rule is read and shown. */
  timezone: string
  /** No instant is before this one. */
  start?: number
  /** No instant is after this one. */
  end?: number
  /** How many occurrences there are in all; counted by the caller, not by the schedule. */
  count?: number
  misfire?: Misfire
}

/** A when, normalized: plain data that lasts decades in a database. Instants are epoch milliseconds. */
export type Rule =
  | { kind: 'once'; at: number; timezone: string; misfire?: Misfire }
  /** `every` and `cron` stay as given; `anchor` is the instant intervals are counted from. */
  | ({ kind: 'every'; every: string; everyMs: number; anchor: number } & Recurrence)
  | ({ kind: 'cron'; cron: string; anchor: number } & Recurrence)

/** A rule that can have more than one instant. */
export type RecurringRule = Exclude<Rule, { kind: 'once' }>

type Check = (value: unknown) => boolean

const isInstant: Check = (value) =>
  Number.isInteger(value) && (value as number) >= INSTANT_MIN && (value as number) <= INSTANT_MAX
const isText: Check = (value) => typeof value === 'string' && value !== '' && value.length <= TEXT_LENGTH_MAX
const isMisfire: Check = (value) => value === 'once' || value === 'skip'
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 1

const REQUIRED: Record<Rule['kind'], Record<string, Check>> = {
  once: { at: isInstant },
  every: { every: isText, everyMs: isCount, anchor: isInstant },
  cron: { cron: isText, anchor: isInstant },
}
const OPTIONAL: Record<Rule['kind'], Record<string, Check>> = {
  once: { misfire: isMisfire },
  every: { start: isInstant, end: isInstant, count: isCount, misfire: isMisfire },
  cron: { start: isInstant, end: isInstant, count: isCount, misfire: isMisfire },
}

/**
 * Tells whether a value read back from a database is a whole and sound rule. Fields it does not know make it
 * unsound: a newer version wrote them, and they may change when the alarm fires.
 */
export function isRule(value: unknown): value is Rule {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const row = value as Record<string, unknown>
  if (row.kind !== 'once' && row.kind !== 'every' && row.kind !== 'cron') return false
  const required = { ...REQUIRED[row.kind], timezone: isText }
  const optional = OPTIONAL[row.kind]
  const sound =
    Object.entries(required).every(([name, check]) => Object.hasOwn(row, name) && check(row[name])) &&
    Object.entries(optional).every(([name, check]) => row[name] === undefined || check(row[name])) &&
    Object.keys(row).every(
      (name) => name === 'kind' || Object.hasOwn(required, name) || Object.hasOwn(optional, name),
    )
  return sound && holdsTogether(row as unknown as Rule)
}

function holdsTogether(rule: Rule): boolean {
  try {
    assertTimezone(rule.timezone)
    if (rule.kind === 'every' && (rule.everyMs < 1000 || parseDuration(rule.every) !== rule.everyMs))
      return false
    if (rule.kind !== 'once' && (rule.start ?? INSTANT_MIN) > (rule.end ?? INSTANT_MAX)) return false
    scheduleOf(rule)
    return true
  } catch {
    return false
  }
}
