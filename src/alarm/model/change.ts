import { type Alarm, newRow, recurs, type Snapshot } from './alarm.ts'
import { type EndStatus, type Failure, NO_OUTCOME, type Outcome, type Tally } from './lifecycle.ts'
import type { EarlyReport, NewTimer, Serial, Timer } from './timer.ts'

/** New values of a timer. Its version grows; fields that are not named stay. */
export interface TimerUpdate extends Partial<NewTimer> {
  readonly id: Serial
}

/**
 * Everything one decision writes, applied in one transaction or not at all.
 * Pure functions make changes; stores only apply them.
 */
export interface Change {
  readonly remove?: readonly Serial[]
  readonly update?: readonly TimerUpdate[]
  readonly add?: readonly NewTimer[]
  /** In-flight timers whose settle must read the alarm again. */
  readonly markEdited?: readonly Serial[]
  /** Reports on timers that are still in flight. */
  readonly reports?: readonly ({ readonly id: Serial } & EarlyReport)[]
  /** Replaces the alarm's row: edits of users, and a target that is gone. */
  readonly alarm?: Alarm
  /** Ends the alarm, and leaves the rest of its outcome as it is. */
  readonly status?: EndStatus
  /** Replaces the outcome; `null` deletes it. */
  readonly outcome?: Outcome | null
  readonly events?: readonly EventDraft[]
  /** How the counters behind `stats` change: the alarm leaves one and enters another. */
  readonly tally?: Tally
  /** The occurrence whose failure this tally withdraws or restates; without it, the alarm's newest failure. */
  readonly restates?: string
  /** New alarms that follow from this one: for a dead-letter target. */
  readonly spawn?: readonly { readonly alarm: Alarm; readonly timer: NewTimer }[]
}

/**
 * The alarm after this change was written: the result of a call. Reading it again would cost another statement and could
 * show a later edit.
 */
export function snapshotAfter(snapshot: Snapshot, change: Change): Snapshot {
  const marked = new Set(change.markEdited)
  const reports = new Map(change.reports?.map(({ id, ok, text }) => [id, { ok, text }]))
  const updates = new Map(change.update?.map((update) => [update.id, update]))
  const kept = snapshot.timers.filter(({ id }) => change.remove?.includes(id) !== true)
  const timers = kept.map((timer): Timer => {
    const update = updates.get(timer.id)
    const row =
      update === undefined
        ? timer
        : { ...timer, ...update, version: timer.version + 1, edited: false, report: null }
    const { id, edited, report } = row
    return { ...row, edited: edited || marked.has(id), report: reports.get(id) ?? report }
  })
  return {
    alarm: change.alarm ?? snapshot.alarm,
    timers: [...timers, ...(change.add ?? []).map(newRow)],
    outcome: outcomeAfter(snapshot.outcome, change),
    inFlight: new Set(kept.map(({ id }) => id)).intersection(snapshot.inFlight),
  }
}

function outcomeAfter(before: Outcome | null, { outcome = before, status }: Change): Outcome | null {
  // The time of the last fire stays where the new summary names none.
  const after = outcome && { ...outcome, lastFiredAt: outcome.lastFiredAt ?? before?.lastFiredAt ?? null }
  return status === undefined ? after : { ...(after ?? NO_OUTCOME), status }
}

/** Counts an occurrence of a recurring alarm that failed or timed out. Any other alarm is counted where it ends. */
export function countFailure<C extends Change | null>(alarm: Alarm, change: C, occurrence: Failure): C {
  if (change === null || !recurs(alarm)) return change
  return { ...change, tally: { from: null, to: null, durationMs: null, ...change.tally, occurrence } }
}

/** What pure decisions need: the time, the grace of late occurrences, a random number, and ids for new rows. */
export interface Context {
  readonly now: number
  /** Occurrences later than this are misfires. */
  readonly graceMs: number
  /** From 0 to below 1. */
  readonly random: () => number
  readonly newId: () => string
}

/** Where an event can come from. */
export const ORIGINS = ['caught', 'caused', 'derived', 'scheduled'] as const

/** Where an event came from. */
export type Origin = (typeof ORIGINS)[number]

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
  'alarm.undeclared',
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
  /** Set if an occurrence, or its one-shot alarm, has failed or timed out with this event: lists of failures find it. */
  readonly failure?: Failure
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
