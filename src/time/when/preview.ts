import { display, inField, WakefulError } from '../../error.ts'
import { daysOffOf, expiredCalendarNotes } from '../calendars/index.ts'
import { measureSearchWork } from '../clock/index.ts'
import {
  countBetween,
  followingOccurrence,
  isOnDayOff,
  type NextOccurrence,
  occurrenceNotes,
} from '../occurrences/index.ts'
import { parseBound } from '../phrases/index.ts'
import {
  describe,
  describeJitter,
  isRule,
  type RecurringRule,
  type Rule,
  scheduleOf,
} from '../rules/index.ts'
import { assertTimezone, formatInstant, formatLocal, type Moment } from '../zones/index.ts'
import { resolveRule } from './recurring.ts'
import { type Resolved, resolveWhen, type When, type WhenContext } from './when.ts'

/** One instant of a preview, in UTC and in the rule's zone. */
export interface PreviewedInstant {
  instant: string
  local: string
  note?: string
}

/** What a when means, computed without setting an alarm. */
export interface Preview {
  timezone: string
  rule: Rule
  description: string
  instants: PreviewedInstant[]
}

/** What a preview is computed against: from which instant on, as if it were that time, and how many instants. */
export type PreviewContext = WhenContext & { from?: Moment | number; count?: number }

const COUNT_DEFAULT = 5
const COUNT_MAX = 1000
/** The search work for a whole preview: for a thousand instants, one or two hundred milliseconds. */
const WORK_MAX = 60_000
const WORK_PER_INSTANT = 250
/** How many of a rule's next instants are compared to find its shortest period. */
const PERIODS_COMPARED = 11
/** The refusals of a rule that has no instant from a time on. */
const OVER = new Set<string>([
  'rule.outside_bounds',
  'rule.all_past',
  'rule.never_fires',
  'rule.only_days_off',
])
const TOO_RARE = 'what comes after this one is too rare to be looked for here'

/** Previews a when, or the rule of an alarm: its zone, its rule in words, and its next instants, by default from the first one. */
export function preview(when: When | Rule, context: PreviewContext): Preview {
  const count = context.count ?? COUNT_DEFAULT
  if (!Number.isInteger(count) || count < 1 || count > COUNT_MAX) {
    const params = { min: 1, max: COUNT_MAX, value: display(count) }
    throw new WakefulError('field.not_whole_number', params, { field: 'count' })
  }
  const from = fromOf(when, context)
  const resolved = resolveFrom(when, context, from)
  const { rule, notes } = resolved
  const isOver = from !== undefined && resolved.first < from
  const recurring = () =>
    previewRule(resolved, rule as RecurringRule, count, { ...context, now: from ?? context.now })
  const instants: PreviewItem[] = isOver
    ? []
    : rule.kind === 'once'
      ? [{ at: resolved.first, notes: [] }]
      : recurring()
  const first = instants[0]
  // What a clock change does to the first instant is one of its own notes already.
  first?.notes.unshift(
    ...notes.filter((note) => !first.notes.some((own) => own !== '' && note.endsWith(own))),
  )
  return {
    timezone: rule.timezone,
    rule,
    description: describe(rule),
    instants: instants.map((item) => formatItem(item, rule.timezone)),
  }
}

/** The shortest time between two of a rule's next instants; Infinity if there are fewer than two. */
export function shortestPeriod(resolved: Resolved, context: WhenContext): number {
  const { rule } = resolved
  if (rule.kind === 'once') return Number.POSITIVE_INFINITY
  const items = previewRule(resolved, rule, PERIODS_COMPARED + 1, context)
  return Math.min(...items.slice(1).map(({ at }, i) => at - items[i]!.at))
}

/** The instant to preview from, read in the zone of the time. */
function fromOf(when: When | Rule, { from, ...context }: PreviewContext): number | undefined {
  if (from === undefined || typeof from === 'number') return from
  const own = typeof when === 'object' && 'timezone' in when ? when.timezone : undefined
  const timezone = assertTimezone(own ?? context.timezone)
  return inField('from', () => parseBound(from, { ...context, timezone }, 'start'))
}

/** Resolves a when as if it were `from` now: "in 10 minutes" is then, and a rule that is over today may not have been. */
function resolveFrom(when: When | Rule, context: WhenContext, from: number | undefined): Resolved {
  const resolve = (at: WhenContext) => (isRule(when) ? resolveRule(when, at) : resolveWhen(when, at))
  if (from === undefined) return resolve(context)
  try {
    return resolve({ ...context, now: from, after: from - 1 })
  } catch (thrown) {
    // A rule that will be over by then is no mistake: it has no instants from there on.
    const isOver = thrown instanceof WakefulError && OVER.has(thrown.reason)
    if (from > context.now && isOver) return resolve(context)
    throw thrown
  }
}

interface PreviewItem {
  at: number
  notes: string[]
}

function previewRule(
  resolved: Resolved,
  rule: RecurringRule,
  count: number,
  { calendars, now }: WhenContext,
): PreviewItem[] {
  const { exclude } = rule
  const off = exclude === undefined ? null : daysOffOf(exclude, calendars)
  const first: NextOccurrence = { at: resolved.first, nominal: resolved.nominal }
  const isBeyondCount = countCheck(rule, first)
  const items: PreviewItem[] = []
  // The notes of the first are already on it.
  const expired = new Set(resolved.notes)
  const work = measureSearchWork()
  const workMax = WORK_MAX + count * WORK_PER_INSTANT
  let occurrence: NextOccurrence | null = first
  for (let before = now; occurrence !== null && items.length < count; ) {
    const { at } = occurrence
    const skipped = exclude?.move === undefined && isOnDayOff(rule, off, at)
    if (work() > workMax || (skipped && scheduleOf(rule).next(at) !== null)) {
      items.at(-1)?.notes.push(TOO_RARE)
      break
    }
    if (skipped || isBeyondCount(occurrence, items.length)) break
    const notes = occurrenceNotes(rule, off, occurrence, before)
    if (items.length === 0) notes.push(describeJitter(rule).replace(/^, each/, 'each wakes'))
    for (const note of expiredCalendarNotes(exclude ?? {}, calendars, rule.timezone, at)) {
      if (!expired.has(note)) notes.push(note)
      expired.add(note)
    }
    items.push({ at, notes })
    before = at
    occurrence = followingOccurrence(rule, off, occurrence)
  }
  return items
}

/** A check whether an occurrence is beyond the rule's count, which includes skipped ticks. */
function countCheck(
  rule: RecurringRule,
  first: NextOccurrence,
): (occurrence: NextOccurrence, before: number) => boolean {
  const { count, exclude } = rule
  if (count === undefined) return () => false
  if (exclude === undefined || exclude.move !== undefined) return (_, before) => before >= count
  let [counted, until] = [0, first.nominal - 1]
  return ({ at }) => {
    counted += countBetween(rule, until, at, count + 1).count
    until = at
    return counted > count
  }
}

function formatItem({ at, notes }: PreviewItem, timezone: string): PreviewedInstant {
  const note = notes.filter(Boolean).join('; ')
  return { instant: formatInstant(at), local: formatLocal(at, timezone), ...(note !== '' && { note }) }
}
