import { inField, unknownField, WakefulError } from '../../error.ts'
import {
  type CalendarLookup,
  type ExcludeInput,
  expiredCalendarNotes,
  movedDay,
  movedNote,
  readExclude,
  resolveExclude,
} from '../calendars/index.ts'
import {
  assertInstant,
  DAY_MS,
  durationOf,
  instantOfUnix,
  KINDS,
  RECURRING_OPTIONS,
  WHEN_NAMES,
} from '../durations/index.ts'
import { type PhraseSettings, parseRecurring, parseTime, type ResolvedPhrase } from '../phrases/index.ts'
import { RRULE_LENGTH_MAX } from '../rrule/index.ts'
import type { Rule } from '../rules/index.ts'
import { quote } from '../text/index.ts'
import {
  assertTimezone,
  formatDay,
  instantOfWallTime,
  localDay,
  type Moment,
  offsetPeriodAt,
  parseInstant,
  zoneNote,
} from '../zones/index.ts'
import { type DstInput, type MisfireInput, readMisfire, resolveRecurring } from './recurring.ts'

/** A when as an object: exactly one of at, unix, delay, cron, every, rrule, and its options. */
export interface WhenObject {
  at?: Moment
  /** Seconds since 1970. */
  unix?: number
  /** A duration from now. */
  delay?: string
  cron?: string
  /** A duration (`1d` is always 24 hours), or `1 month`, `2 years`, which follow the calendar. */
  every?: string
  /** RFC 5545: an RRULE, optionally with DTSTART, RDATE and EXDATE lines. */
  rrule?: string
  timezone?: string
  /** Recurring rules: the earliest instant; for intervals, the first one. */
  start?: Moment
  /** Recurring rules: the latest instant. */
  end?: Moment
  /** Recurring rules: the total number of occurrences. */
  count?: number
  /** Recurring rules: each occurrence wakes up to this much later; a restart does not change by how much. */
  jitter?: string
  /** Rules on the wall clock: what a clock change does to them. */
  dst?: DstInput
  misfire?: MisfireInput
  /** Days off: names of calendars, 'weekends', and whether instants on them are skipped or moved. */
  exclude?: ExcludeInput
}

/** When an alarm fires, as input. A bare number is refused, because it could be seconds or milliseconds. */
export type When = Moment | WhenObject

/** What a when is resolved against: the present, and the default zone. */
export interface WhenContext {
  now: number
  timezone: string
  /** Finds the calendars that `exclude` names; there are none by default. */
  calendars?: CalendarLookup
  /** How phrases are read where they leave the time of day open. */
  phrases?: PhraseSettings | undefined
  /** The first instant of a recurring rule is after this; the present by default. */
  after?: number
  /** Where intervals without a start are counted from; the present by default. */
  anchor?: number
}

/** A resolved when. */
export interface Resolved {
  rule: Rule
  first: number
  /** The rule's own instant from which `first` comes: different only if days off skip or move it. */
  nominal: number
  /** Notes about what was accepted but may surprise. */
  notes: string[]
}

/** The meaning of a text: an instant, or a rule. */
export type Parsed =
  | { instant: number; timezone: string; notes: string[] }
  | { rule: Rule; timezone: string; notes: string[] }

/** Whether a when is an object with options, and not an instant. */
export function isWhenObject(when: When): when is WhenObject {
  const tag = Object.prototype.toString.call(when)
  return typeof when === 'object' && when !== null && tag === '[object Object]'
}

/** Resolves a when to a rule and its first instant, or refuses it with the reason. */
export function resolveWhen(when: When, context: WhenContext): Resolved {
  const resolved = resolveInput(when, context)
  const note = zoneNote(resolved.rule.timezone)
  if (note === null || resolved.notes.includes(note)) return resolved
  return { ...resolved, notes: [...resolved.notes, note] }
}

/** Parses a phrase, an ISO time or a duration, without setting an alarm. */
export function parse(text: string, context: WhenContext): Parsed {
  const timezone = assertTimezone(context.timezone)
  const read = { ...context, timezone }
  if (typeof text === 'string' && parseRecurring(text, read) !== null) {
    const { rule, notes } = resolveWhen(text, read)
    return { rule, timezone, notes }
  }
  const { at, notes } = parseTime(text, read)
  if (at < context.now) notes.push('the instant is in the past')
  const note = zoneNote(timezone)
  if (note !== null) notes.push(note)
  return { instant: at, timezone, notes }
}

function resolveInput(when: When, context: WhenContext): Resolved {
  const read = { ...context, timezone: assertTimezone(context.timezone) }
  const input: unknown = when
  if (typeof input === 'string') return resolveText('when', input, {}, read)
  if (!isWhenObject(when)) {
    const at = inField('at', () => parseInstant(input as Date))
    return resolveOnce({ at, notes: [] }, 'at', {}, read)
  }
  const object = input as WhenObject & Record<string, unknown>
  const kind = kindOf(object)
  if (object.timezone !== undefined) read.timezone = assertTimezone(object.timezone)
  if (kind === 'cron' || kind === 'every' || kind === 'rrule') return resolveRecurring(object, kind, read)
  if (typeof object.at === 'string') return resolveText('at', object.at, object, read)
  return resolveOnce({ at: readOnce(object, kind, read), notes: [] }, kind, object, read)
}

/** Resolves a text, for one instant or a recurrence, with the options beside it. */
function resolveText(field: 'when' | 'at', text: string, beside: WhenObject, context: WhenContext): Resolved {
  const read = { ...context, exclude: readExclude(beside.exclude) }
  const phrase = inField(field, () => parseRecurring(text, read))
  if (phrase === null) {
    const time = inField(field, () => parseTime(text, read))
    return resolveOnce(time, 'at', beside, context)
  }
  const { canonical, notes, ...when } = phrase
  const { at: _at, timezone: _timezone, ...options } = beside
  for (const name of RECURRING_OPTIONS) {
    if (options[name] === undefined || (when as WhenObject)[name] === undefined) continue
    throw new WakefulError('when.said_twice', { text: quote(text), option: name }, { field: name })
  }
  const resolved = aboutPhrase(field, () => resolveInput({ ...options, ...when }, context))
  const written = writtenAs(text, options)
  const rule = { ...resolved.rule, ...(written.length <= RRULE_LENGTH_MAX && { written }) }
  return { ...resolved, rule, notes: [`read as '${canonical}'`, ...notes, ...resolved.notes] }
}

/** A phrase and its options as they were written. */
function writtenAs(text: string, options: object): string {
  const words = text.trim().toLowerCase().replace(/\s+/g, ' ')
  return Object.keys(options).length === 0 ? words : `${words} ${JSON.stringify(options)}`
}

/** Does work with the rule of a phrase: an error about the rule is about the phrase, and one about an option stays. */
function aboutPhrase<T>(field: string, work: () => T): T {
  try {
    return work()
  } catch (thrown) {
    const isAboutRule = thrown instanceof WakefulError && KINDS.some((kind) => kind === thrown.field)
    throw isAboutRule ? thrown.with({ field }) : thrown
  }
}

/** Resolves a when that fires once, from the instant it names. */
function resolveOnce(
  phrase: ResolvedPhrase,
  kind: string,
  object: WhenObject,
  context: WhenContext,
): Resolved {
  for (const name of RECURRING_OPTIONS) {
    if (object[name] === undefined) continue
    throw new WakefulError('when.recurring_only', { other: kind }, { field: name })
  }
  const misfire = object.misfire === undefined ? undefined : readMisfire(object.misfire)
  if (typeof misfire === 'object')
    throw new WakefulError('when.misfire_all_once', { other: kind }, { field: 'misfire' })
  const moved = object.exclude === undefined ? undefined : applyDaysOff(phrase.at, object.exclude, context)
  const { at, wall } = { ...phrase, ...moved }
  const notes = [...phrase.notes, ...(moved?.notes ?? [])]
  if (at < context.now) notes.push('the instant is in the past: it fires at once')
  const { timezone } = context
  // A wall time is stored only if the input was one, and not for UTC, whose data never change.
  const asWall = wall === undefined || phrase.wall === undefined || timezone === 'UTC' ? {} : { wall }
  const rule: Rule = { kind: 'once', at, timezone, ...asWall, ...(misfire && { misfire }) }
  return { rule, first: at, nominal: at, notes }
}

/**
 * Applies days off to a single instant: with `move` it moves to a working day, otherwise a day off is refused. The result
 * is a plain instant, which later edits of a calendar do not change.
 */
function applyDaysOff(at: number, input: ExcludeInput, { timezone, calendars }: WhenContext): ResolvedPhrase {
  const resolved = resolveExclude(input, calendars)
  if (resolved === null) return { at, notes: [] }
  const { exclude, off } = resolved
  const notes = expiredCalendarNotes(exclude, calendars, timezone, at)
  const day = localDay(timezone, at)
  const reason = off.reason(day)
  if (exclude.move === undefined && reason !== undefined) {
    throw new WakefulError('exclude.day_off', { day: formatDay(day), name: reason }, { field: 'exclude' })
  }
  const newDay = exclude.move === undefined ? day : movedDay(exclude, off, day)
  if (newDay === day) return { at, notes }
  if (newDay !== null) {
    const wall = at + offsetPeriodAt(timezone, at).offset + (newDay - day) * DAY_MS
    const moved = instantOfWallTime(timezone, wall, 'first')
    if (moved !== null) return { at: moved, wall, notes: [movedNote(exclude, off, day), ...notes] }
  }
  throw new WakefulError('exclude.no_working_day', { day: formatDay(day) }, { field: 'exclude' })
}

/** The instant of `at`, `unix` or `delay`. */
function readOnce(object: WhenObject, kind: string, context: WhenContext): number {
  if (kind === 'delay')
    return assertInstant(context.now + durationOf('delay', object.delay), object.delay, 'delay')
  return kind === 'unix' ? instantOfUnix(object.unix) : inField('at', () => parseInstant(object.at!))
}

function kindOf(object: Record<string, unknown>): (typeof KINDS)[number] {
  for (const name of Object.keys(object)) {
    if (object[name] !== undefined && !WHEN_NAMES.includes(name)) throw unknownField(name, WHEN_NAMES)
  }
  const kinds = KINDS.filter((kind) => object[kind] !== undefined)
  if (kinds.length === 1) return kinds[0]!
  throw new WakefulError('when.kinds', { fields: KINDS, others: kinds })
}
