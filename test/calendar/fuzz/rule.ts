import { isRule, type Rule, resolveWhen, scheduleOf, type When } from '../../../src/time/index.ts'
import { assertInstant, assertInstants, Bogus } from './sound.ts'
import type { FuzzContext } from './subject.ts'

/** What a when came to, with its first few instants. */
export interface ReadRule {
  rule: Rule
  instants: number[]
  notes: string[]
}

const WALKED = 5

/** Reads a when and walks it: finding its instants is part of what must not take long. */
export function readRule(when: When, context: FuzzContext): ReadRule {
  const { rule, first, notes } = resolveWhen(when, context)
  const { next } = scheduleOf(rule)
  const instants: number[] = []
  for (let at: number | null = first; at !== null && instants.length < WALKED; at = next(at))
    instants.push(at)
  return { rule, instants, notes }
}

/** The rule lasts in a database, and its instants come in order, within its bounds, none of them past. */
export function assertRule({ rule, instants }: ReadRule, { now }: FuzzContext): void {
  const stored: unknown = JSON.parse(JSON.stringify(rule))
  if (!isRule(stored)) throw new Bogus(`${JSON.stringify(rule)} would not be read back`)
  if (scheduleOf(stored).next(instants[0]! - 1) !== instants[0]) {
    throw new Bogus(`${JSON.stringify(rule)} does not fire at its first instant ${instants[0]}`)
  }
  assertInstant(instants[0])
  if (rule.kind === 'once') return
  const { start, end } = rule
  assertInstants(instants, start !== undefined && start >= now ? start - 1 : now)
  if (end !== undefined && instants.at(-1)! > end)
    throw new Bogus(`${instants.at(-1)} is after the end ${end}`)
}
