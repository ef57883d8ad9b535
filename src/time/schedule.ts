import { compileCron, type NextInstant, readCron } from './cron.ts'
import { INSTANT_MAX, INSTANT_MIN } from './instant.ts'
import type { RecurringRule, Rule } from './rule.ts'

/** The instants of one rule: they follow from the rule alone, never from when something ran (calendar-true). */
export interface Schedule {
  /** The first instant strictly after the given one; null when there are no more. The rule's count is not applied. */
  next(after: number): number | null
}

/** Compiles a rule. The costly part, a cron expression in a zone, is shared by all the rules that use it. */
export function scheduleOf(rule: Rule): Schedule {
  if (rule.kind === 'once') return { next: (after) => (rule.at > after ? rule.at : null) }
  const everyMs = intervalOf(rule)
  const next =
    everyMs === null
      ? calendar((rule as { cron: string }).cron, rule.timezone)
      : steps(firstStep(rule, everyMs), everyMs)
  const first = rule.start ?? INSTANT_MIN
  const last = rule.end ?? INSTANT_MAX
  return {
    next(after) {
      if (Number.isNaN(after) || after >= last) return null
      const found = next(Math.max(Math.floor(after), first - 1))
      return found === null || found > last ? null : found
    },
  }
}

/** The fixed interval of `every` and of cron's `@every`; null for what follows the calendar. */
export function intervalOf(rule: RecurringRule): number | null {
  if (rule.kind === 'every') return rule.everyMs
  // Called for every row the engine settles: look before taking the expression apart.
  return rule.cron.includes('@') ? (readCron(rule.cron).everyMs ?? null) : null
}

/** The first instant of an interval: the start itself where one is given, otherwise one interval after the anchor. */
export function firstStep(rule: RecurringRule, everyMs: number): number {
  return rule.start === undefined ? rule.anchor + everyMs : rule.anchor
}

function steps(first: number, everyMs: number): NextInstant {
  return (after) => (after < first ? first : first + (Math.floor((after - first) / everyMs) + 1) * everyMs)
}

const compiled = new Map<string, NextInstant>()
const COMPILED_MAX = 1000

function calendar(cron: string, zone: string): NextInstant {
  const key = `${zone} ${cron}`
  let next = compiled.get(key)
  if (next === undefined) next = compileCron(readCron(cron).fields, zone)
  else compiled.delete(key)
  // Set again at the end: the map's order is then the order of use, and its head the one to drop.
  compiled.set(key, next)
  if (compiled.size > COMPILED_MAX) compiled.delete(compiled.keys().next().value!)
  return next
}
