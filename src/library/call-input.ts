import { inField } from '../error.ts'
import { parseInstant, type Resolved, shortestPeriod, type WhenContext } from '../time/index.ts'
import type { ResolvedRule, SeenOptions } from './api.ts'

/** The rule of a call, for those who decide whether to admit it. */
export function resolvedRule(resolved: Resolved, context: WhenContext): ResolvedRule {
  return { firstAt: resolved.first, shortestMs: shortestPeriod(resolved, context) }
}

/** The version that the caller read, as an instant. */
export function seenAt({ updatedAt }: SeenOptions): number | undefined {
  return updatedAt === undefined ? undefined : inField('updatedAt', () => parseInstant(updatedAt))
}
