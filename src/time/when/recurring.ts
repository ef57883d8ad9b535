import { assertMembers, inField, WakefulError } from '../../error.ts'
import { type DaysOff, daysOffOf, expiredCalendarNotes, resolveExclude } from '../calendars/index.ts'
import { measureSearchWork } from '../clock/index.ts'
import { eitherDay, parseCron } from '../cron/index.ts'
import { assertDurationText, DAY_MS, durationOf, formatDuration, parseStep } from '../durations/index.ts'
import {
  clockChangeNote,
  countBetween,
  firstOccurrence,
  isOnDayOff,
  movedDayOf,
  type NextOccurrence,
} from '../occurrences/index.ts'
import { parseBound } from '../phrases/index.ts'
import { parseRrule } from '../rrule/index.ts'
import {
  intervalOf,
  isDstPolicy,
  JITTER_MS_MAX,
  type Misfire,
  type RecurringRule,
  type Rule,
  scheduleOf,
} from '../rules/index.ts'
import { assertWhole, quote } from '../text/index.ts'
import { DST_DEFAULT, type DstPolicy, formatDay, formatLocal, localDay } from '../zones/index.ts'
import type { Resolved, WhenContext, WhenObject } from './when.ts'

/** What happens to missed instants, as input. */
export type MisfireInput = 'once' | 'skip' | 'all' | { all: { max?: number; within?: string } }

/** What clock changes do to a rule, as input; missing fields have their defaults. */
export type DstInput = Partial<DstPolicy>

const ALL_MAX_DEFAULT = 1000
const ALL_WITHIN_MS_DEFAULT = DAY_MS

const EITHER_DAY =
  'a day matches if either day field does; Vixie cron (crontab) requires both, because one begins with *. Put + in front of the weekday to require both'

const NAME_TIME = 'name it with BYHOUR, BYMINUTE and BYSECOND, or with DTSTART'

/** How many instants are compared with the jitter, and the search work for rare rules. */
const SPACING_TICKS_MAX = 100
const SPACING_WORK_MAX = 60_000
/** How many instants, and what period, are checked for two on one day. */
const DAILY_TICKS_MAX = 400
const DAILY_MS_MAX = 4 * 366 * DAY_MS

/** The steps of an `every`. */
function everyStep(every: unknown): ReturnType<typeof parseStep> {
  const text = assertDurationText('every', every)
  return inField('every', () => parseStep(text))
}

/** Resolves a cron, an every or an rrule, and finds its first instant. */
export function resolveRecurring(
  object: WhenObject,
  kind: RecurringRule['kind'],
  context: WhenContext,
): Resolved {
  const { now, after = now } = context
  const timezone = zoneOf(object, kind, context.timezone)
  const bounds = readBounds(object, { now, timezone, phrases: context.phrases })
  const { start } = bounds
  const jitterMs = readJitter(object.jitter)
  const misfire = readMisfire(object.misfire)
  const dst = readDst(object.dst)
  const { exclude, off } = resolveExclude(object.exclude, context.calendars) ?? { off: null }
  const rule = {
    kind,
    [kind]: object[kind],
    ...(kind === 'every' && everyStep(object.every)),
    anchor: start ?? context.anchor ?? now,
    timezone,
    ...bounds,
    ...(jitterMs !== undefined && { jitterMs }),
    ...(misfire && { misfire }),
    ...(exclude && { exclude }),
    ...(dst && { dst }),
  } as RecurringRule
  if (dst !== undefined && intervalOf(rule) !== null) {
    throw new WakefulError('rule.fixed_length', { text: quote(textOf(rule)) }, { field: 'dst' })
  }
  if (jitterMs !== undefined) assertSpaced(rule, jitterMs, now)
  if (exclude?.move !== undefined) assertOnceADay(rule, now)
  const first = firstOccurrence(rule, off, after)
  if (first === null) throw neverFiresError(rule, after)
  const isOff =
    exclude?.move === undefined
      ? onDaysOffOnly(rule, off, first)
      : movedDayOf(rule, off!, first.nominal) === null
  if (exclude !== undefined && isOff) {
    throw new WakefulError('rule.only_days_off', { text: quote(textOf(rule)) }, { field: 'exclude' })
  }
  const isLate = start !== undefined && start < now && context.after === undefined
  const notes = isLate ? ['the start is in the past: it goes on from now'] : []
  if (rule.kind === 'cron' && eitherDay(parseCron(rule.cron).fields)?.differsFromVixie === true)
    notes.push(EITHER_DAY)
  if (rule.kind === 'rrule' && start === undefined && hasOpenTime(rule.rrule)) {
    const time = formatLocal(rule.anchor, timezone).slice(11, 19)
    notes.push(`what the rule leaves open of the time of day is that of the set, ${time}: ${NAME_TIME}`)
  }
  const clockNote = clockChangeNote(rule, first, now)
  if (clockNote !== '') notes.push(`first on ${formatDay(localDay(timezone, first.at))}: ${clockNote}`)
  if (exclude !== undefined) {
    notes.push(...expiredCalendarNotes(exclude, context.calendars, timezone, first.at))
  }
  return { rule, first: first.at, nominal: first.nominal, notes }
}

/** Whether an rrule takes its hour, minute or second from the moment it is set. Shorter periods count from it, as intervals do. */
function hasOpenTime(text: string): boolean {
  const { start, rules } = parseRrule(text)
  if (start !== undefined) return false
  return rules.some(
    ({ freq, byHour, byMinute, bySecond }) =>
      !/^(?:HOUR|MINUTE|SECOND)LY$/.test(freq) && [byHour, byMinute, bySecond].includes(undefined),
  )
}

/** The first occurrence of a rule that is resolved already, such as that of an alarm. */
export function resolveRule(rule: Rule, context: WhenContext): Resolved {
  if (rule.kind === 'once') return { rule, first: rule.at, nominal: rule.at, notes: [] }
  const { now, after = now, calendars } = context
  const off = rule.exclude === undefined ? null : daysOffOf(rule.exclude, calendars)
  const first = firstOccurrence(rule, off, after)
  if (first === null) throw neverFiresError(rule, after)
  return { rule, first: first.at, nominal: first.nominal, notes: [] }
}

/** Refuses a jitter longer than the time between two instants, which could then fire in the wrong order. */
function assertSpaced(rule: RecurringRule, jitterMs: number, now: number): void {
  const schedule = scheduleOf(rule)
  const work = measureSearchWork()
  let at = schedule.next(now)
  for (let ticks = 0; at !== null && ticks < SPACING_TICKS_MAX && work() < SPACING_WORK_MAX; ticks++) {
    const next = schedule.next(at)
    if (next !== null && next - at < jitterMs) {
      const params = { jitter: formatDuration(jitterMs), gap: formatDuration(next - at) }
      const text = quote(textOf(rule))
      throw new WakefulError('rule.jitter_too_long', { ...params, text }, { field: 'jitter' })
    }
    at = next
  }
}

/** Refuses to move a rule that fires more than once a day, because several instants would move to one day. */
function assertOnceADay(rule: RecurringRule, now: number): void {
  const everyMs = intervalOf(rule)
  if (everyMs === null ? !sharesADay(rule, now) : everyMs >= DAY_MS) return
  throw new WakefulError('rule.cannot_move', { text: quote(textOf(rule)) }, { field: 'exclude.move' })
}

/** Whether two of the rule's next instants are on one day. */
function sharesADay(rule: RecurringRule, now: number): boolean {
  const schedule = scheduleOf(rule)
  let at = schedule.next(now)
  const until = (at ?? now) + DAILY_MS_MAX
  for (let ticks = 0; at !== null && at <= until && ticks < DAILY_TICKS_MAX; ticks++) {
    const next = schedule.next(at)
    if (next !== null && localDay(rule.timezone, next) === localDay(rule.timezone, at)) return true
    at = next
  }
  return false
}

/** Whether all its instants are on days off; skipped instants count toward `count`. */
function onDaysOffOnly(rule: RecurringRule, off: DaysOff | null, { at, nominal }: NextOccurrence): boolean {
  if (isOnDayOff(rule, off, at)) return true
  return rule.count !== undefined && countBetween(rule, nominal - 1, at, rule.count + 1).count > rule.count
}

function readBounds(
  object: WhenObject,
  context: Pick<WhenContext, 'now' | 'timezone' | 'phrases'>,
): Pick<RecurringRule, 'start' | 'end' | 'count'> {
  const read = (side: 'start' | 'end') => {
    const moment = object[side]
    return moment === undefined ? undefined : inField(side, () => parseBound(moment, context, side))
  }
  const [start, end] = [read('start'), read('end')]
  if (end !== undefined && end < (start ?? end)) {
    const params = { start: quote(object.start), end: quote(object.end) }
    throw new WakefulError('rule.end_before_start', params, { field: 'end' })
  }
  const { count } = object
  if (count !== undefined) assertWhole('count', count, [1], 'invalid_rule')
  return {
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
    ...(count !== undefined && { count }),
  }
}

/** The zone that the cron expression or rrule names, or the default. */
function zoneOf(object: WhenObject, kind: RecurringRule['kind'], zoneDefault: string): string {
  if (kind === 'every') return zoneDefault
  const read = kind === 'cron' ? parseCron : parseRrule
  const named = inField(kind, () => read(object[kind]!).timezone)
  if (named !== undefined && object.timezone !== undefined && named !== zoneDefault) {
    throw new WakefulError('timezone.twice', { other: kind, named, zone: zoneDefault }, { field: 'timezone' })
  }
  return named ?? zoneDefault
}

function neverFiresError(rule: RecurringRule, now: number): WakefulError {
  const { start, end, ...unbounded } = rule
  const bounded = (start !== undefined || end !== undefined) && scheduleOf(unbounded).next(now) !== null
  const text = quote(textOf(rule))
  if (bounded) return new WakefulError('rule.outside_bounds', { text }, { field: 'end' })
  const reason = rule.kind === 'rrule' ? 'rule.all_past' : 'rule.never_fires'
  return new WakefulError(reason, { text }, { field: rule.kind })
}

/** The rule as the user wrote it. */
export function textOf(rule: RecurringRule): string {
  if (rule.kind === 'cron') return rule.cron
  return rule.kind === 'every' ? rule.every : rule.rrule
}

/** Parses a misfire policy. */
export function readMisfire(input: unknown): Misfire | undefined {
  if (input === undefined || input === 'once' || input === 'skip') return input
  const all = input === 'all' ? {} : membersOf('misfire', input, ['all'])?.all
  const bounds = membersOf('misfire.all', all, ['max', 'within'])
  if (bounds === null) {
    throw new WakefulError('when.misfire', { value: quote(input) }, { field: 'misfire' })
  }
  const { max = ALL_MAX_DEFAULT, within } = bounds
  const most = assertWhole('misfire.all.max', max, [1])
  const withinMs = within === undefined ? ALL_WITHIN_MS_DEFAULT : durationOf('misfire.all.within', within)
  if (withinMs < 1) throw new WakefulError('when.misfire_within', {}, { field: 'misfire.all.within' })
  return { all: { max: most, withinMs } }
}

/** Parses what clock changes do to a rule. */
function readDst(input: unknown): DstPolicy | undefined {
  if (input === undefined) return undefined
  const fields = membersOf('dst', input, ['gap', 'overlap'])
  const { gap = DST_DEFAULT.gap, overlap = DST_DEFAULT.overlap } = fields ?? {}
  const policy = { gap, overlap }
  if (fields !== null && isDstPolicy(policy)) return policy as DstPolicy
  const expected = "{ gap: 'shift' or 'skip', overlap: 'first', 'last' or 'both' }"
  throw new WakefulError('field.malformed', { expected }, { field: 'dst' })
}

/** Parses a jitter to milliseconds; zero is the same as none. */
function readJitter(input: unknown): number | undefined {
  if (input === undefined) return undefined
  const ms = durationOf('jitter', input)
  if (ms <= JITTER_MS_MAX) return ms === 0 ? undefined : ms
  const expected = `at most ${formatDuration(JITTER_MS_MAX)}`
  throw new WakefulError('field.invalid', { expected, value: quote(input) }, { field: 'jitter' })
}

/** The members of an object, which may have no others; null for what is no object. */
function membersOf<Name extends string>(
  field: string,
  input: unknown,
  names: readonly Name[],
): Partial<Record<Name, unknown>> | null {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return null
  assertMembers(field, input, names)
  return input
}
