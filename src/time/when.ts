import { WakefulError } from '../error.ts'
import { parseInterval, readCron } from './cron.ts'
import { parseDuration } from './duration.ts'
import { assertInstant, INSTANT_MAX, parseInstant } from './instant.ts'
import { readMoment, readText } from './parse.ts'
import type { Misfire, RecurringRule, Rule } from './rule.ts'
import { scheduleOf } from './schedule.ts'
import { quote } from './text.ts'
import { assertTimezone } from './timezone.ts'

/** A point in time: an instant, or text that names one. */
export type Moment = Date | Temporal.Instant | string

/** A when as an object: exactly one of at, unix, delay, cron, every, rrule, and what goes with it. */
export interface WhenObject {
  at?: Moment
  /** Seconds since 1970. */
  unix?: number
  /** A duration from now. */
  delay?: string
  cron?: string
  /** A duration: `1d` is always 24 hours; a time of day is cron's. */
  every?: string
  /** Not supported in this version yet. */
  rrule?: string
  timezone?: string
  /** Recurring rules: no instant before; for intervals the first one. */
  start?: Moment
  /** Recurring rules: no instant after. */
  end?: Moment
  /** Recurring rules: how many occurrences in all. */
  count?: number
  misfire?: Misfire
}

/** What users give to say when; a bare number is refused, since it could be seconds or milliseconds. */
export type When = Moment | WhenObject

/** What a when is read against: the present, and the zone of what names none itself. */
export interface WhenContext {
  now: number
  timezone: string
}

/** A when that was understood. */
export interface Resolved {
  rule: Rule
  first: number
  /** What was accepted but may surprise, in words. */
  notes: string[]
}

const KINDS = ['at', 'unix', 'delay', 'cron', 'every', 'rrule'] as const
const OPTIONS = ['timezone', 'start', 'end', 'count', 'misfire']
const LATER = ['jitter', 'dst', 'exclude']

/** Understands a when: normalizes it to a rule and finds its first instant, or refuses it and says why. */
export function resolveWhen(when: When, context: WhenContext): Resolved {
  const timezone = assertTimezone(context.timezone)
  const given: unknown = when
  if (typeof given === 'string') {
    const { at, notes } = readText(given, { now: context.now, timezone })
    return once(at, timezone, undefined, context.now, notes)
  }
  const tag = Object.prototype.toString.call(given)
  if (typeof given !== 'object' || given === null || tag !== '[object Object]') {
    return once(parseInstant(given as Date), timezone, undefined, context.now, [])
  }
  const object = given as WhenObject & Record<string, unknown>
  const kind = kindOf(object)
  const zone = object.timezone === undefined ? timezone : assertTimezone(object.timezone)
  const misfire = readMisfire(object.misfire)
  if (kind === 'cron' || kind === 'every') return recurring(object, kind, zone, misfire, context.now)
  for (const name of ['start', 'end', 'count'] as const) {
    if (object[name] === undefined) continue
    throw new WakefulError('invalid_request', `'${name}' belongs to cron and every: { ${kind} } fires once`)
  }
  const { at, notes } = readOnce(object, kind, { now: context.now, timezone: zone })
  return once(at, zone, misfire, context.now, notes)
}

function kindOf(object: Record<string, unknown>): (typeof KINDS)[number] {
  for (const name of Object.keys(object)) {
    if (object[name] === undefined || OPTIONS.includes(name) || KINDS.includes(name as 'at')) continue
    const why = LATER.includes(name)
      ? 'is not supported in this version yet'
      : `is unknown: a when has ${[...KINDS, ...OPTIONS].join(', ')}`
    throw new WakefulError('invalid_request', `'${quote(name).slice(1, -1)}' ${why}`)
  }
  const kinds = KINDS.filter((kind) => object[kind] !== undefined)
  if (kinds.length !== 1) {
    const found = kinds.length === 0 ? 'none' : kinds.join(' and ')
    throw new WakefulError(
      'invalid_request',
      `a when has exactly one of ${KINDS.join(', ')}; this has ${found}`,
    )
  }
  if (kinds[0] === 'rrule') {
    throw new WakefulError('invalid_rule', 'rrule is not supported in this version yet: use cron or every')
  }
  return kinds[0]!
}

function readMisfire(misfire: unknown): Misfire | undefined {
  if (misfire === undefined || misfire === 'once' || misfire === 'skip') return misfire
  const why = misfire === 'all' ? 'is not supported in this version yet' : 'is unknown'
  throw new WakefulError('invalid_request', `misfire ${quote(misfire)} ${why}: use 'once' or 'skip'`)
}

function readOnce(object: WhenObject, kind: string, context: WhenContext): { at: number; notes: string[] } {
  if (kind === 'delay') {
    return { at: assertInstant(context.now + parseDuration(object.delay!), object.delay), notes: [] }
  }
  if (kind === 'unix') return { at: readUnix(object.unix), notes: [] }
  if (typeof object.at === 'string') return readText(object.at, context)
  return { at: parseInstant(object.at!), notes: [] }
}

function readUnix(unix: unknown): number {
  if (typeof unix !== 'number' || !Number.isFinite(unix)) {
    throw new WakefulError('invalid_time', `unix ${quote(unix)} is not a number of seconds`)
  }
  if (unix * 1000 > INSTANT_MAX && unix <= INSTANT_MAX) {
    throw new WakefulError(
      'invalid_time',
      `unix ${unix} is after the year 9999: it is in seconds, this looks like milliseconds`,
    )
  }
  // Rounded to a microsecond first: 1736882445.123 times 1000 is not a whole number in floating point.
  return assertInstant(Math.ceil(Number((unix * 1000).toFixed(3))), unix)
}

function once(
  at: number,
  timezone: string,
  misfire: Misfire | undefined,
  now: number,
  notes: string[],
): Resolved {
  if (at < now) notes.push('the instant is in the past: it fires at once')
  return { rule: { kind: 'once', at, timezone, ...(misfire && { misfire }) }, first: at, notes }
}

function recurring(
  object: WhenObject,
  kind: 'cron' | 'every',
  zoneGiven: string,
  misfire: Misfire | undefined,
  now: number,
): Resolved {
  const timezone = kind === 'cron' ? zoneOfCron(object, zoneGiven) : zoneGiven
  const start = object.start === undefined ? undefined : readMoment(object.start, timezone)
  const end = object.end === undefined ? undefined : readMoment(object.end, timezone)
  if (end !== undefined && end < (start ?? end)) {
    throw new WakefulError(
      'invalid_rule',
      `the end ${quote(object.end)} is before the start ${quote(object.start)}`,
    )
  }
  const { count } = object
  if (count !== undefined && !(Number.isSafeInteger(count) && count >= 1)) {
    throw new WakefulError('invalid_rule', `count ${quote(count)} is not a whole number from 1 on`)
  }
  const shared = {
    anchor: start ?? now,
    timezone,
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
    ...(count !== undefined && { count }),
    ...(misfire && { misfire }),
  }
  const rule: RecurringRule =
    kind === 'cron'
      ? { kind, cron: object.cron!, ...shared }
      : { kind, every: object.every!, everyMs: parseInterval(object.every!), ...shared }
  const first = scheduleOf(rule).next(start !== undefined && start >= now ? start - 1 : now)
  if (first === null) throw neverFires(rule, now)
  const notes = start !== undefined && start < now ? ['the start is in the past: it goes on from now'] : []
  return { rule, first, notes }
}

function zoneOfCron(object: WhenObject, zoneGiven: string): string {
  const named = readCron(object.cron!).timezone
  if (named !== undefined && object.timezone !== undefined && named !== zoneGiven) {
    throw new WakefulError(
      'invalid_rule',
      `the cron expression says ${named} and timezone says ${zoneGiven}: give one`,
    )
  }
  return named ?? zoneGiven
}

function neverFires(rule: RecurringRule, now: number): WakefulError {
  const { start, end, ...unbounded } = rule
  const bounded = (start !== undefined || end !== undefined) && scheduleOf(unbounded).next(now) !== null
  const why = bounded
    ? 'it has no instant between its start and its end'
    : 'no such day comes before the year 10000'
  return new WakefulError(
    'invalid_rule',
    `${quote(rule.kind === 'cron' ? rule.cron : rule.every)} never fires: ${why}`,
  )
}
