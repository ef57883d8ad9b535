import { type Change, type Context, replace, type Snapshot, snooze } from '../alarm/index.ts'
import { WakefulError } from '../error.ts'
import type { Resolved } from '../time/index.ts'

/** A snooze to an instant: a one-shot alarm is set again for it, and of a recurring one, one occurrence moves. */
export function snoozed(snapshot: Snapshot, resolved: Resolved, context: Context): Change {
  const { rule: before } = snapshot.alarm
  const { first, notes } = resolved
  if (before.kind !== 'once' || resolved.rule.kind !== 'once') return snooze(snapshot, first, context)
  const ended = snapshot.outcome?.status ?? null
  if (ended === 'cancelled') throw new WakefulError('alarm.snooze_cancelled', {})
  const rule = { ...resolved.rule, asked: before.asked ?? before.at }
  const event = ended === null ? 'reschedule' : 'set_again'
  return replace(snapshot, { alarm: { ...snapshot.alarm, rule, notes }, first }, event, context)
}
