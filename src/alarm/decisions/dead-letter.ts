import { formatInstant } from '../../time/index.ts'
import {
  type Alarm,
  type Change,
  type Context,
  type EventDraft,
  type NewTimer,
  NO_CALENDARS,
  occurrenceId,
  timerAt,
} from '../model/index.ts'
import { alarmRecord } from './event-records.ts'

/** The alarm for the dead-letter target of an occurrence whose attempts are used up, and its record. */
export function deadLetter(
  alarm: Alarm,
  timer: NewTimer,
  error: string,
  context: Context,
): { spawn: NonNullable<Change['spawn']>; events: readonly EventDraft[] } | null {
  if (alarm.onFailure === null) return null
  const letter: Alarm = {
    ...alarm,
    id: context.newId(),
    generation: 1,
    rule: { kind: 'once', at: context.now, timezone: alarm.rule.timezone },
    calendars: NO_CALENDARS,
    target: alarm.onFailure,
    key: null,
    idempotencyKey: null,
    ack: 'delivery',
    overlap: 'skip',
    onFailure: null,
    createdVia: 'dead-letter',
    createdAt: context.now,
    updatedAt: context.now,
    registeredAt: context.now,
    pausedAt: null,
    cancelledAt: null,
    notes: [
      `dead letter of ${occurrenceId(alarm, timer)}, due ${formatInstant(timer.scheduledFor)}: ${error}`.slice(
        0,
        1000,
      ),
    ],
  }
  return {
    spawn: [{ alarm: letter, timer: timerAt(letter, context.now) }],
    events: [
      alarmRecord('alarm.dead_lettered', context.now, {
        letter_id: letter.id,
        target: alarm.onFailure.name,
        error,
      }),
    ],
  }
}
