import { daysOffBetween, formatInstant, wakeTime } from '../../time/index.ts'
import {
  type Alarm,
  type AlarmEventType,
  daysOff,
  type EventDraft,
  FORCED_TICK,
  movesToWorkingDay,
  type NewTimer,
  occurrenceName,
  type SkipReason,
} from '../model/index.ts'

/** The number of days off that a record names. */
const DAYS_NAMED_MAX = 5

/** How late an occurrence is at a moment. Its jitter does not count as lateness. */
export function lateness(alarm: Alarm, timer: NewTimer, at: number): number {
  const { scheduledFor, tick } = timer
  const wake = tick === FORCED_TICK ? scheduledFor : wakeTime(alarm.rule, alarm.id, scheduledFor)
  return Math.max(0, at - wake)
}

/** The one record of a delivered occurrence; for an `event` target, the record is the delivery. */
export function firedRecord(alarm: Alarm, timer: NewTimer, firedAt: number, endedAt: number): EventDraft {
  const scheduled_for = formatInstant(timer.scheduledFor)
  const fired_at = formatInstant(firedAt)
  const drift_ms = lateness(alarm, timer, firedAt)
  const attempt = timer.attempt + 1
  const moved = movedFrom(alarm, timer)
  const occurrence = occurrenceName(timer)
  if (alarm.target.kind !== 'event') {
    const data = { scheduled_for, fired_at, drift_ms, attempt, ...moved, duration_ms: endedAt - firedAt }
    return { type: 'alarm.fired', origin: 'caused', occurrence, at: endedAt, data }
  }
  const type = alarm.rule.kind === 'once' ? 'timer.due_time_reached' : 'schedule.ticked'
  const common = { scheduled_for, fired_at, drift_ms, attempt, ...moved }
  const data = alarm.message === '' ? common : { ...common, message: alarm.message }
  return { type, origin: 'scheduled', occurrence, at: endedAt, data, payload: alarm.payload }
}

/** The rule's own instant of an occurrence that days off have moved. */
function movedFrom({ rule }: Alarm, { nominal }: NewTimer): { moved_from?: string } {
  if (nominal === null || rule.kind === 'once' || !movesToWorkingDay(rule)) return {}
  return { moved_from: formatInstant(nominal) }
}

/** The one record of an occurrence whose attempts are used up, or the failed report of a delivered one. */
export function failedRecord(timer: NewTimer, error: string, attempts: number, at: number): EventDraft {
  const data = { scheduled_for: formatInstant(timer.scheduledFor), error, attempts }
  return { ...occurrenceRecord('alarm.failed', timer, at, data), failure: 'failed' }
}

/** A range of occurrences that were not delivered, and why. The first of them names the record. */
export function skippedRecord(
  alarm: Alarm,
  timer: NewTimer,
  reason: SkipReason,
  at: number,
  range: { last: { at: number }; count: number; exact?: boolean } = {
    last: { at: timer.scheduledFor },
    count: 1,
  },
): EventDraft {
  return occurrenceRecord('alarm.skipped', timer, at, {
    reason,
    from: formatInstant(timer.scheduledFor),
    to: formatInstant(range.last.at),
    count: range.count,
    ...(range.exact === false && { at_least: true }),
    late_ms: lateness(alarm, timer, at),
    ...(reason === 'holiday' && { days_off: daysOffNames(alarm, timer.scheduledFor, range.last.at) }),
  })
}

/** What was attempted and is not retried must still end as one record each (promise: recorded-once). */
export function droppedRecords(
  alarm: Alarm,
  timers: readonly NewTimer[],
  reason: SkipReason,
  at: number,
): EventDraft[] {
  const attempted = timers.filter(({ kind, delivered }) => kind === 'retry' && !delivered)
  return attempted.map((timer) => skippedRecord(alarm, timer, reason, at))
}

/** The names of the first days off of a range. */
function daysOffNames(alarm: Alarm, from: number, to: number): string[] {
  const off = daysOff(alarm)
  return alarm.rule.kind === 'once' || off === null
    ? []
    : daysOffBetween(alarm.rule, off, from, to, DAYS_NAMED_MAX)
}

/** A record about one occurrence. */
export function occurrenceRecord(
  type: AlarmEventType,
  timer: NewTimer,
  at: number,
  data: EventDraft['data'],
): EventDraft {
  return { type, origin: 'caused', occurrence: occurrenceName(timer), at, data }
}

/** A record about the alarm as a whole. */
export function alarmRecord(type: AlarmEventType, at: number, data: EventDraft['data'] = {}): EventDraft {
  return { type, origin: 'caused', occurrence: null, at, data }
}
