import { applyZoneData, formatInstant, occurrenceFrom } from '../../time/index.ts'
import type { Alarm, Change, Context, NewTimer, Snapshot, Timer, TimerMove } from '../model/index.ts'
import { alarmRecord } from './event-records.ts'
import { daysOff, occurrenceAt, standingAbove } from './recurrence.ts'

/**
 * Resolves an alarm's pending instant again, by the zone data and the calendars of today: null where it stands as it
 * should. What is being delivered, or was tried already, stays as it is.
 */
export function review(snapshot: Snapshot, context: Context): Change | null {
  for (const timer of snapshot.timers) {
    if (timer.kind !== 'due' || snapshot.inFlight.has(timer.id)) continue
    const change = reviewed(snapshot.alarm, timer, context)
    if (change !== null) return change
  }
  return null
}

/** What a review of one timer writes: its new place, and a record that tells from where to where it went, and why. */
export function reviewed(alarm: Alarm, timer: Timer, context: Context): Change | null {
  // One that waits for its handler, an operator, or an earlier occurrence, has come due already.
  const { waiting } = timer
  const hasComeDue = waiting === 'handler' || waiting === 'operator_pause' || waiting === 'overlap'
  if (timer.generation !== alarm.generation || hasComeDue) return null
  const place = placeToday(alarm, timer)
  if (place === null || (place.scheduledFor === timer.scheduledFor && place.nominal === timer.nominal)) {
    return null
  }
  const move: TimerMove = { id: timer.id, ...place }
  if (place.scheduledFor === timer.scheduledFor) return { move: [move] }
  const byZone = place.zoneOffset !== timer.zoneOffset
  const data = {
    reason: byZone ? 'zone_data' : 'calendar',
    was: formatInstant(timer.scheduledFor),
    next_fire_at: formatInstant(place.scheduledFor),
  }
  const change = { move: [move], events: [alarmRecord('alarm.rescheduled', context.now, data)] }
  if (alarm.rule.kind !== 'once') return change
  const rule = { ...alarm.rule, at: place.scheduledFor }
  return { ...change, alarm: { ...alarm, rule, updatedAt: Math.max(context.now, alarm.updatedAt + 1) } }
}

/** Where the timer's own instant of the rule leads today; null where it leads nowhere else. */
function placeToday(alarm: Alarm, timer: Timer): NewTimer | null {
  const { rule } = alarm
  const own = timer.nominal ?? timer.scheduledFor
  const nominal = timer.zoneOffset === null ? own : applyZoneData(rule, own, timer.zoneOffset)
  if (nominal === own && (rule.kind === 'once' || rule.exclude === undefined)) return null
  if (rule.kind === 'once') return occurrenceAt(alarm, { at: nominal, nominal }, timer.tick, null)
  const { floor } = timer
  const from = occurrenceFrom(rule, daysOff(alarm), nominal)
  // New zone data may put it where another has fired already: then it stays where it stands.
  if (nominal !== own && floor !== null && from !== null && from.at <= floor) return null
  const standing = standingAbove(alarm, from, floor)
  return standing === null ? null : occurrenceAt(alarm, standing, timer.tick, floor)
}
