import { compileCron, parseCron } from '../cron/index.ts'
import { DAY_MS } from '../durations/index.ts'
import { compileRrule } from '../rrule/index.ts'
import { Cache } from '../text/index.ts'
import {
  DST_DEFAULT,
  type DstPolicy,
  fixedInterval,
  INSTANT_MAX,
  INSTANT_MIN,
  type Instants,
  instantsOfWallTimes,
  offsetPeriodAt,
} from '../zones/index.ts'
import type { CalendarEvery, RecurringRule, Rule } from './rule.ts'

const YEAR_MAX = 9999

/** The instants of a rule. They depend only on the rule, never on when an occurrence ran. The rule's count is not applied. */
export type Schedule = Pick<Instants, 'next' | 'count'>

/** Compiles a rule. The expensive part, a cron expression in a zone, is shared by all rules that use it. */
export function scheduleOf(rule: Rule): Schedule {
  if (rule.kind === 'once') return { next: (after) => (rule.at > after ? rule.at : null) }
  const { next, count } = instantsOf(rule)
  const first = rule.start ?? INSTANT_MIN
  const last = rule.end ?? INSTANT_MAX
  return {
    next(after) {
      if (Number.isNaN(after) || after >= last) return null
      const found = next(Math.max(Math.floor(after), first - 1))
      return found === null || found > last ? null : found
    },
    count:
      count &&
      ((after, until) => {
        const [from, to] = [Math.max(Math.floor(after), first - 1), Math.min(Math.floor(until), last)]
        return from < to ? count(from, to) : 0
      }),
  }
}

/** The fixed interval of `every` and of cron's `@every`; null for rules that follow the calendar. */
export function intervalOf(rule: RecurringRule): number | null {
  if (rule.kind === 'every') return 'everyMs' in rule ? rule.everyMs : null
  if (rule.kind === 'rrule') return null
  // Called for every row that the engine settles, so the expression is parsed only if needed.
  return rule.cron.includes('@') ? (parseCron(rule.cron).everyMs ?? null) : null
}

/** The instants of a rule before its start and end are applied. */
export function instantsOf(rule: RecurringRule): Instants {
  const everyMs = intervalOf(rule)
  if (everyMs !== null) return fixedInterval(firstStep(rule, everyMs), everyMs)
  if (rule.kind === 'cron') return cronInstants(rule.cron, rule.timezone, rule.dst ?? DST_DEFAULT)
  if (rule.kind === 'every') return compileMonths(rule as CalendarEvery)
  return rruleInstants(rule)
}

/** The first instant of an interval: the start if there is one, otherwise one interval after the anchor. */
function firstStep(rule: RecurringRule, everyMs: number): number {
  return rule.start === undefined ? rule.anchor + everyMs : rule.anchor
}

/** Every hour that passes counts, the repeated one too, and nothing is shifted out of a gap. */
const EVERY_HOUR: DstPolicy = { gap: 'skip', overlap: 'both' }

function rruleInstants(rule: Extract<RecurringRule, { kind: 'rrule' }>): Instants {
  const { instants, wallTimes, everyHour } = compileRrule(rule.rrule, rule)
  if (instants !== null) return instants
  if (everyHour) return { ...instantsOfWallTimes(wallTimes, rule.timezone, EVERY_HOUR), interval: true }
  return instantsOfWallTimes(wallTimes, rule.timezone, rule.dst ?? DST_DEFAULT)
}

const compiledCrons = new Cache<string, Instants>(500)

function cronInstants(cron: string, zone: string, policy: DstPolicy): Instants {
  return compiledCrons.get(zoneKey(zone, policy), cron, () =>
    compileCron(parseCron(cron).fields, zone, policy),
  )
}

function zoneKey(zone: string, { gap, overlap }: DstPolicy): string {
  return gap === 'shift' && overlap === 'first' ? zone : `${zone} ${gap} ${overlap}`
}

/**
 * The instants of an `every` in months or years: the anchor's local date and time of day, plus multiples of the step.
 * Each is counted from the anchor, not from the one before. From the 31st, it fires on the last day of shorter months and
 * on the 31st of longer ones; from February 29, on February 28 of the years between.
 *
 * A start is itself the first instant, even if its wall time occurs twice; without one, the first is one step after the
 * anchor.
 */
function compileMonths(rule: CalendarEvery): Instants {
  const { anchor, everyMonths, timezone: zone } = rule
  const wall = anchor + offsetPeriodAt(zone, anchor).offset
  const first = new Date(wall)
  const dayFirst = first.getUTCDate()
  const monthFirst = first.getUTCFullYear() * 12 + first.getUTCMonth()
  const time = wall - Math.floor(wall / DAY_MS) * DAY_MS

  const stepAt = (index: number): number => {
    const month = monthFirst + index * everyMonths
    const [year, inYear] = [Math.floor(month / 12), month % 12]
    const daysInMonth = new Date(Date.UTC(year, inYear + 1, 0)).getUTCDate()
    return Date.UTC(year, inYear, Math.min(dayFirst, daysInMonth)) + time
  }
  /** The index, from 1, of the first step at or after this wall time. */
  const indexFrom = (from: number): number => {
    const date = new Date(from)
    const months = date.getUTCFullYear() * 12 + date.getUTCMonth() - monthFirst
    const index = Math.max(1, Math.floor(months / everyMonths))
    return stepAt(index) >= from ? index : index + 1
  }
  const steps = instantsOfWallTimes(
    {
      next(after) {
        const next = stepAt(indexFrom(after + 1))
        return new Date(next).getUTCFullYear() > YEAR_MAX ? null : next
      },
      count: (from, to) => (to <= from ? 0 : indexFrom(to) - indexFrom(from)),
    },
    zone,
    rule.dst ?? DST_DEFAULT,
  )
  const startAt = rule.start === undefined ? Number.NEGATIVE_INFINITY : anchor
  return {
    ...steps,
    next: (after) => (after < startAt ? startAt : steps.next(Math.max(after, anchor))),
    count: (after, until) =>
      (after < startAt && startAt <= until ? 1 : 0) + steps.count!(Math.max(after, anchor), until),
  }
}
