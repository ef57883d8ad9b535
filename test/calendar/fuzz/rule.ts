import {
  daysOffOf,
  followingOccurrence,
  isRule,
  type NextOccurrence,
  occurrenceFrom,
  type Rule,
  resolveWhen,
  scheduleOf,
  type When,
} from '../../../src/time/index.ts'
import { assertInstant, assertInstants, Bogus } from './checks.ts'
import type { FuzzContext } from './subject.ts'

/** A resolved when, with its first few instants. */
export interface ReadRule {
  rule: Rule
  nominal: number
  instants: number[]
  notes: string[]
}

const WALKED = 5

/** Resolves a when and finds its first instants, which must be fast too. */
export function readRule(when: When, context: FuzzContext): ReadRule {
  const { rule, first, nominal, notes } = resolveWhen(when, context)
  const instants: number[] = [first]
  if (rule.kind === 'once') return { rule, nominal, instants, notes }
  const off = rule.exclude === undefined ? null : daysOffOf(rule.exclude, context.calendars)
  let occurrence: NextOccurrence | null = { at: first, nominal }
  while (instants.length < WALKED) {
    occurrence = followingOccurrence(rule, off, occurrence)
    if (occurrence === null) break
    instants.push(occurrence.at)
  }
  return { rule, nominal, instants, notes }
}

/** Checks that the rule can be stored, and that its instants are sorted, within its bounds, and not in the past. */
export function assertRule({ rule, nominal, instants }: ReadRule, { now, calendars }: FuzzContext): void {
  const stored: unknown = JSON.parse(JSON.stringify(rule))
  if (!isRule(stored)) throw new Bogus(`${JSON.stringify(rule)} would not be read back`)
  if (scheduleOf(stored).next(nominal - 1) !== nominal) {
    throw new Bogus(`${JSON.stringify(rule)} has no instant ${nominal} of its own`)
  }
  assertInstant(instants[0])
  if (rule.kind === 'once') return
  const off = rule.exclude === undefined ? null : daysOffOf(rule.exclude, calendars)
  if (occurrenceFrom(rule, off, nominal)?.at !== instants[0]) {
    throw new Bogus(`${JSON.stringify(rule)} does not fire at its first instant ${instants[0]}`)
  }
  const { start, end } = rule
  // A moved instant may be after the rule's end.
  const moves = rule.exclude?.move !== undefined
  assertInstants(instants, !moves && start !== undefined && start >= now ? start - 1 : now)
  if (!moves && end !== undefined && instants.at(-1)! > end)
    throw new Bogus(`${instants.at(-1)} is after the end ${end}`)
}
