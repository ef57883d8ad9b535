import type { Rule } from '../../time/index.ts'
import { DEFINING_PROPERTIES } from '../fields/index.ts'
import type { Alarm } from '../model/index.ts'

/**
 * Whether a set asks for what the alarm is already: every option and the rule are the same. Payloads are compared byte for
 * byte, because they are delivered so. A correlation id counts only if the set gives one.
 */
export function isSameDefinition(alarm: Alarm, wanted: Alarm): boolean {
  if (!isSameRule(alarm.rule, wanted.rule)) return false
  return DEFINING_PROPERTIES.every((name) => {
    if (name === 'correlationId' && !givesCorrelationId(wanted)) return true
    return isSame(alarm[name], wanted[name])
  })
}

/** Whether the caller of a set gave a correlation id. Otherwise it is the id that the new alarm would have had. */
export function givesCorrelationId({ correlationId, id }: Alarm): boolean {
  return correlationId !== id
}

/**
 * A one-shot is compared by its instant, so a delay always differs. A recurring phrase is compared by its words: what
 * 'monthly' or 'every other tuesday' means depends on the day of the set, which must not move the alarm at every start. The
 * anchor of any other recurring rule is its `start`, which is compared too, or else the moment of the set, which the caller
 * did not choose.
 */
export function isSameRule(rule: Rule, wanted: Rule): boolean {
  if ('written' in rule && 'written' in wanted)
    return rule.written === wanted.written && rule.timezone === wanted.timezone
  if (rule.kind === 'once' && rule.asked !== undefined && wanted.kind === 'once') {
    const [was, is] = [rule, wanted].map(({ timezone, misfire }) => ({ timezone, misfire }))
    return rule.asked === wanted.at && isSame(was, is)
  }
  return isSame({ ...rule, anchor: undefined }, { ...wanted, anchor: undefined })
}

/** The instant that a one-shot was set for, before it was snoozed. */
export function askedAt(rule: Extract<Rule, { kind: 'once' }>): number {
  return rule.asked ?? rule.at
}

/**
 * Whether two JSON values are equal. A member that is undefined is the same as none, and their order does not matter, except
 * within the body of a webhook, which is sent in its order.
 */
function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  const [one, other] = [a, b] as Record<string, unknown>[]
  const names = new Set([...Object.keys(one!), ...Object.keys(other!)])
  return (
    Array.isArray(a) === Array.isArray(b) &&
    [...names].every((name) =>
      name === 'body'
        ? JSON.stringify(one!.body) === JSON.stringify(other!.body)
        : isSame(one![name], other![name]),
    )
  )
}
