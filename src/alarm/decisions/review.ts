import { applyZoneData, formatInstant, occurrenceFrom } from '../../time/index.ts'
import type { Alarm, Change, Context, NewTimer, Snapshot, Timer, TimerUpdate } from '../model/index.ts'
import { alarmRecord } from './event-records.ts'
import { daysOff, firstAboveFloor, occurrenceAt } from './recurrence.ts'

/**
 * Resolves an alarm's pending instant again, by the current zone data and calendars; null where nothing changes. Timers in
 * flight, and retries, stay as they are.
 */
export function review(snapshot: Snapshot, context: Context): Change | null {
  for (const timer of snapshot.timers) {
    if (timer.kind !== 'due' || snapshot.inFlight.has(timer.id)) continue
    const change = moveIfInstantChanged(snapshot.alarm, timer, context)
    if (change !== null) return change
  }
  return null
}

/** What a review of one timer writes: its new instant, and a record of the old one, the new one and the reason. */
export function moveIfInstantChanged(alarm: Alarm, timer: Timer, context: Context): Change | null {
  // A timer that waits for its handler, an operator, or an earlier occurrence has come due already.
  const { waiting } = timer
  const hasComeDue = waiting === 'handler' || waiting === 'operator_pause' || waiting === 'overlap'
  if (timer.generation !== alarm.generation || hasComeDue) return null
  const current = currentOccurrence(alarm, timer)
  if (
    current === null ||
    (current.scheduledFor === timer.scheduledFor && current.nominal === timer.nominal)
  ) {
    return null
  }
  const move: TimerUpdate = { id: timer.id, ...current }
  if (current.scheduledFor === timer.scheduledFor) return { update: [move] }
  const byZone = current.zoneOffset !== timer.zoneOffset
  const data = {
    reason: byZone ? 'zone_data' : 'calendar',
    was: formatInstant(timer.scheduledFor),
    next_fire_at: formatInstant(current.scheduledFor),
  }
  const change: Change = { update: [move], events: [alarmRecord('alarm.rescheduled', context.now, data)] }
  if (alarm.rule.kind !== 'once') return change
  const rule = { ...alarm.rule, at: current.scheduledFor }
  return { ...change, alarm: { ...alarm, rule, updatedAt: Math.max(context.now, alarm.updatedAt + 1) } }
}

/** The timer by the current zone data and calendars; null where it stays as it is. */
function currentOccurrence(alarm: Alarm, timer: Timer): NewTimer | null {
  const { rule } = alarm
  const own = timer.nominal ?? timer.scheduledFor
  const nominal = timer.zoneOffset === null ? own : applyZoneData(rule, own, timer.zoneOffset)
  if (nominal === own && (rule.kind === 'once' || rule.exclude === undefined)) return null
  if (rule.kind === 'once') return occurrenceAt(alarm, { at: nominal, nominal }, timer.tick, null)
  const { floor } = timer
  const from = occurrenceFrom(rule, daysOff(alarm), nominal)
  // New zone data may move it to an instant that has fired already: then it stays.
  if (nominal !== own && floor !== null && from !== null && from.at <= floor) return null
  const next = firstAboveFloor(alarm, from, floor)
  return next === null ? null : occurrenceAt(alarm, next, timer.tick, floor)
}
