import { compileCron, parseCron } from '../cron/index.ts'
import { compileRrule } from '../rrule/index.ts'
import {
  DST_DEFAULT,
  type DstPolicy,
  INSTANT_MAX,
  INSTANT_MIN,
  type Instants,
  instantsOfWallTimes,
} from '../zones/index.ts'
import { compileMonths } from './every-months.ts'
import type { RecurringRule, Rule } from './rule.ts'

/** The instants of a rule. They depend only on the rule, never on when an occurrence ran. */
export interface Schedule {
  /** The first instant strictly after another; null if there are no more. The rule's count is not applied. */
  next(after: number): number | null
  /** How many instants are in (after, until]; present if that needs no enumeration. */
  count?(after: number, until: number): number
}

/** Compiles a rule. The expensive part, a cron expression in a zone, is shared by all rules that use it. */
export function scheduleOf(rule: Rule): Schedule {
  if (rule.kind === 'once') return { next: (after) => (rule.at > after ? rule.at : null) }
  const { next, count } = instantsOf(rule)
  const first = rule.start ?? INSTANT_MIN
  const last = rule.end ?? INSTANT_MAX
  const schedule: Schedule = {
    next(after) {
      if (Number.isNaN(after) || after >= last) return null
      const found = next(Math.max(Math.floor(after), first - 1))
      return found === null || found > last ? null : found
    },
  }
  if (count === undefined) return schedule
  schedule.count = (after, until) => {
    const [from, to] = [Math.max(Math.floor(after), first - 1), Math.min(Math.floor(until), last)]
    return from < to ? count(from, to) : 0
  }
  return schedule
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
  if (everyMs !== null) return intervalInstants(firstStep(rule, everyMs), everyMs)
  if (rule.kind === 'cron') return cronInstants(rule.cron, rule.timezone, rule.dst ?? DST_DEFAULT)
  if (rule.kind === 'every') return compileMonths(rule as Extract<typeof rule, { everyMonths: number }>)
  return rruleInstants(rule)
}

/** The first instant of an interval: the start if there is one, otherwise one interval after the anchor. */
function firstStep(rule: RecurringRule, everyMs: number): number {
  return rule.start === undefined ? rule.anchor + everyMs : rule.anchor
}

function intervalInstants(first: number, everyMs: number): Instants {
  const countUntil = (at: number) => (at < first ? 0 : Math.floor((at - first) / everyMs) + 1)
  return {
    next: (after) => first + countUntil(after) * everyMs,
    count: (after, until) => countUntil(until) - countUntil(after),
  }
}

/** Every hour that passes counts, the repeated one too, and nothing is shifted out of a gap. */
const EVERY_HOUR: DstPolicy = { gap: 'skip', overlap: 'both' }

function rruleInstants(rule: Extract<RecurringRule, { kind: 'rrule' }>): Instants {
  const { instants, nextWallTime, countWallTimes, everyHour } = compileRrule(rule.rrule, rule)
  if (instants !== null) return instants
  const wallTimes = { next: nextWallTime, ...(countWallTimes && { count: countWallTimes }) }
  if (everyHour) return { ...instantsOfWallTimes(wallTimes, rule.timezone, EVERY_HOUR), interval: true }
  return instantsOfWallTimes(wallTimes, rule.timezone, rule.dst ?? DST_DEFAULT)
}

/** Two generations of compiled expressions, by zone and policy, then by text. */
let recent = new Map<string, Map<string, Instants>>()
let older = recent
let recentCount = 0
const GENERATION_MAX = 500

function cronInstants(cron: string, zone: string, policy: DstPolicy): Instants {
  const key = zoneKey(zone, policy)
  const found = recent.get(key)?.get(cron)
  if (found !== undefined) return found
  const instants = older.get(key)?.get(cron) ?? compileCron(parseCron(cron).fields, zone, policy)
  // Hits in the recent generation write nothing, which keeps them fast. A full generation replaces the older one.
  if (recentCount >= GENERATION_MAX) {
    older = recent
    recent = new Map()
    recentCount = 0
  }
  const group = recent.get(key) ?? new Map<string, Instants>()
  recent.set(key, group.set(cron, instants))
  recentCount += 1
  return instants
}

function zoneKey(zone: string, { gap, overlap }: DstPolicy): string {
  return gap === 'shift' && overlap === 'first' ? zone : `${zone} ${gap} ${overlap}`
}
