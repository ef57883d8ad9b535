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
import { assertInstant, assertInstants, Bogus } from './sound.ts'
import type { FuzzContext } from './subject.ts'

/** What a when came to, with its first few instants. */
export interface ReadRule {
  rule: Rule
  nominal: number
  instants: number[]
  notes: string[]
}

const WALKED = 5

/** Reads a when and walks it: finding its instants is part of what must not take long. */
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

/** The rule lasts in a database, and its instants come in order, within its bounds, none of them past. */
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
  // What moves may land after the end of the days it comes from.
  const moves = rule.exclude?.move !== undefined
  assertInstants(instants, !moves && start !== undefined && start >= now ? start - 1 : now)
  if (!moves && end !== undefined && instants.at(-1)! > end)
    throw new Bogus(`${instants.at(-1)} is after the end ${end}`)
}
