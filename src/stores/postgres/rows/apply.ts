import type { Alarm, Change, Context, NewTimer, Timer } from '../../../alarm/index.ts'
import type { StoredAlarm } from '../../index.ts'
import type { WriteBatch } from './write-batch.ts'

/** Collects the writes of changes. */
export type ChangeWrites = Pick<
  WriteBatch,
  | 'removeTimer'
  | 'moveTimer'
  | 'markEdited'
  | 'report'
  | 'replaceAlarm'
  | 'retarget'
  | 'addTimer'
  | 'removeOutcome'
  | 'putOutcome'
  | 'putStatus'
  | 'addEvent'
  | 'tallies'
> & { insertAlarm(alarm: Alarm, timer: NewTimer): unknown }

/** Collects the writes of a change. */
export function apply(
  writes: ChangeWrites,
  alarm: StoredAlarm,
  timers: readonly Timer[],
  change: Change,
  context: Context,
): void {
  for (const id of change.remove ?? []) writes.removeTimer(id)
  for (const move of change.update ?? []) {
    const timer = timers.find((each) => each.id === move.id)
    if (timer !== undefined) writes.moveTimer({ ...timer, ...move })
  }
  applyRest(writes, alarm, change, context)
  const { target, seq } = alarm
  const after = change.alarm ?? alarm
  if (after.target.name !== target.name || after.target.pool !== target.pool)
    writes.retarget({ ...after, seq }, timers)
}

/** Collects the writes of a change, except for the timer that it was decided on. */
export function applyRest(writes: ChangeWrites, alarm: StoredAlarm, change: Change, context: Context): void {
  for (const id of change.markEdited ?? []) writes.markEdited(id)
  for (const { id, ok, text } of change.reports ?? []) writes.report(id, JSON.stringify({ ok, text }))
  if (change.alarm !== undefined) writes.replaceAlarm(alarm, change.alarm)
  const record = { ...(change.alarm ?? alarm), seq: alarm.seq }
  for (const timer of change.add ?? []) writes.addTimer(record, timer)
  if (change.outcome === null) writes.removeOutcome(alarm.seq)
  else if (change.outcome !== undefined) writes.putOutcome(record, change.outcome)
  if (change.status !== undefined) writes.putStatus(record, change.status)
  for (const event of change.events ?? []) writes.addEvent(record, event, context)
  if (change.tally !== undefined) writes.tallies.add(record, change.tally)
  for (const { alarm: spawned, timer } of change.spawn ?? []) writes.insertAlarm(spawned, timer)
}
