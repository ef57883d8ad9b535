/** Where an event came from. */
export type Origin = 'caught' | 'caused' | 'derived' | 'scheduled'

/** The types this version writes; more come with their features. */
export const EVENT_TYPES = [
  'alarm.fired',
  'alarm.failed',
  'alarm.skipped',
  'schedule.ticked',
  'timer.due_time_reached',
  'alarm.completed',
  'alarm.timed_out',
  'alarm.attempt_failed',
  'alarm.cancelled',
  'alarm.rescheduled',
  'alarm.paused',
  'alarm.resumed',
  'alarm.dead_lettered',
] as const

/** A type of event that alarms write. */
export type AlarmEventType = (typeof EVENT_TYPES)[number]

/** A record that is appended with the change. */
export interface EventDraft {
  readonly type: AlarmEventType
  readonly origin: Origin
  /** The occurrence's name within its alarm, where the event is about one. */
  readonly occurrence: string | null
  readonly at: number
  readonly data: Readonly<Record<string, unknown>>
  /** The alarm's payload (JSON text), if the event has it. */
  readonly payload?: string | null
}

/** Why occurrences were not delivered. */
export const SKIP_REASONS = [
  'misfire',
  'paused',
  'holiday',
  'overlap',
  'skip_next',
  'rescheduled',
  'cancelled',
] as const
export type SkipReason = (typeof SKIP_REASONS)[number]

/** Whether the event is the delivery of an alarm whose target is the log. */
export function isFire({ type }: Pick<EventDraft, 'type'>): boolean {
  return type === 'schedule.ticked' || type === 'timer.due_time_reached'
}

/** The event's data as JSON text, with the payload spliced in byte for byte (promise: verbatim). */
export function eventJson(draft: EventDraft): string {
  const data = JSON.stringify(draft.data)
  if (draft.payload === undefined || draft.payload === null) return data
  const comma = data === '{}' ? '' : ','
  return `${data.slice(0, -1)}${comma}"payload":${draft.payload}}`
}
