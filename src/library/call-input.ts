import { type Change, type Context, replace, type Snapshot, snooze } from '../alarm/index.ts'
import { inField, WakefulError } from '../error.ts'
import {
  formatInstant,
  parseInstant,
  type Resolved,
  shortestPeriod,
  type WhenContext,
} from '../time/index.ts'
import type { ResolvedRule, SeenOptions, TxOptions } from './api.ts'

/** How stored alarms are edited. */
export interface EditOptions extends TxOptions {
  /** The version that the caller has seen. */
  readonly seen?: number | undefined
}

/** How alarms are cancelled. */
export interface CancelOptions extends EditOptions {
  /** Which alarms to cancel, of those that were selected. */
  readonly mayCancel?: (snapshot: Snapshot) => boolean
  /** Whether no list declares them any more. */
  readonly isUndeclared?: boolean
}

/** The rule of a call, for those who decide whether to admit it. */
export function resolvedRule(resolved: Resolved, context: WhenContext): ResolvedRule {
  return { firstAt: resolved.first, shortestMs: shortestPeriod(resolved, context) }
}

/** The version that the caller read, as an instant. */
export function seenAt({ updatedAt }: SeenOptions): number | undefined {
  return updatedAt === undefined ? undefined : inField('updatedAt', () => parseInstant(updatedAt))
}

/** Refuses to snooze to what is no instant, or to one that has passed. */
function assertSnooze({ rule, first }: Resolved, now: number): void {
  if (rule.kind !== 'once') throw new WakefulError('alarm.snooze_recurs', {}, { field: 'when' })
  if (first < now)
    throw new WakefulError('alarm.snooze_past', { instant: formatInstant(first) }, { field: 'when' })
}

/** A snooze to an instant: a one-shot alarm is set again for it, and of a recurring one, one occurrence moves. */
export function snoozed(snapshot: Snapshot, resolved: Resolved, context: Context): Change {
  assertSnooze(resolved, context.now)
  const { rule: before } = snapshot.alarm
  const { first, notes } = resolved
  if (before.kind !== 'once' || resolved.rule.kind !== 'once') return snooze(snapshot, resolved, context)
  const ended = snapshot.outcome?.status ?? null
  if (ended === 'cancelled') throw new WakefulError('alarm.snooze_cancelled', {})
  const rule = { ...resolved.rule, asked: before.asked ?? before.at }
  const event = ended === null ? 'reschedule' : 'set_again'
  return replace(snapshot, { alarm: { ...snapshot.alarm, rule, notes }, first }, event, context, 'snooze')
}
