import { wakeTime } from '../../time/index.ts'
import {
  type Alarm,
  BLANK_TIMER,
  type Context,
  type EventDraft,
  type NewTimer,
  recurs,
  type Serial,
  type Snapshot,
  type Timer,
  type TimerUpdate,
} from '../model/index.ts'
import { skippedRecord } from './event-records.ts'
import { atFirstSkipped, daysOffRange, following, missedRange } from './recurrence.ts'
import { triage } from './triage.ts'

/** What was due of a recurring alarm when its definition changed. */
export interface SettledDue {
  /** The records of occurrences that are not delivered any more, or were delivered to the log. */
  readonly events: readonly EventDraft[]
  /** Occurrences that still have to be delivered. */
  readonly owed: readonly NewTimer[]
}

const NOTHING: SettledDue = { events: [], owed: [] }

/** The most occurrences that a change of the definition leaves to deliver; older policies of `all` allow any number. */
const OWED_MAX = 1_000

/**
 * Settles the occurrences of a recurring alarm that were due before its definition changes, as the clock would do at this
 * moment: by its misfire policy, its days off and its overlap policy. Otherwise an occurrence that came due while no process
 * ran, and whose alarm is declared anew when the process starts, would vanish without a record (promise: at-least-once).
 * An occurrence in flight is not included: whoever delivers it settles it.
 */
export function settleDue({ alarm, timers, inFlight }: Snapshot, context: Context): SettledDue {
  if (!recurs(alarm) || alarm.cancelledAt !== null) return NOTHING
  const resting = timers.filter(({ id, generation }) => !inFlight.has(id) && generation === alarm.generation)
  const owed = resting.filter(isUnattempted).map(withoutRow)
  const isCurrentDue = ({ kind, generation }: Timer) => kind === 'due' && generation === alarm.generation
  const due = firstResting(alarm, timers.find(isCurrentDue), inFlight)
  if (due === null) return { events: [], owed }
  if (alarm.pausedAt !== null) return { events: pausedRecords(alarm, due, context), owed }
  const isFiring = timers.some(({ id, kind }) => inFlight.has(id) && kind !== 'forced')
  const walked = walk(alarm, due, isFiring ? 1 : 0, context)
  return { events: walked.events, owed: [...owed, ...walked.owed] }
}

/** The next occurrence that is not in flight. While one is in flight, those after it have no timer, but may be due. */
function firstResting(alarm: Alarm, due: Timer | undefined, inFlight: ReadonlySet<Serial>): Timer | null {
  if (due === undefined) return null
  return inFlight.has(due.id) ? onward(due, following(alarm, due)) : due
}

/** An occurrence that must be delivered once, but was not attempted: one fired by hand, or left by an earlier change. */
export function isUnattempted({ kind, attempt, startedAt }: Timer): boolean {
  return kind === 'forced' || (kind === 'retry' && attempt === 0 && startedAt === null)
}

function withoutRow({ kind, wakeAt, scheduledFor, tick, generation, attempt, waiting }: Timer): NewTimer {
  return { ...BLANK_TIMER, kind, wakeAt, scheduledFor, tick, generation, attempt, waiting }
}

/** The instants that passed while the alarm was paused. */
function pausedRecords(alarm: Alarm, due: Timer, context: Context): EventDraft[] {
  const first = atFirstSkipped(alarm, due)
  if (first.scheduledFor > context.now) return []
  const range = missedRange(alarm, first, context.now)
  const { at: scheduledFor, nominal } = range.last
  const last = { ...first, scheduledFor, nominal, tick: first.tick + range.count - 1 }
  return [
    skippedRecord(alarm, first, 'paused', context.now, range),
    ...daysOffRecords(alarm, onward(due, following(alarm, last)), context),
  ]
}

/** Instants on days off are recorded when the next occurrence comes due, which this one never will. */
function daysOffRecords(alarm: Alarm, next: Timer | null, { now }: Context): EventDraft[] {
  const days = next === null ? null : daysOffRange(alarm, next, Math.min(now, next.scheduledFor - 1))
  return days === null ? [] : [skippedRecord(alarm, days.first, 'holiday', now, days)]
}

/** Decides about each due occurrence as a claim does, and goes on to the next as its delivery would. */
function walk(alarm: Alarm, due: Timer, open: number, context: Context): SettledDue {
  const { now } = context
  const events: EventDraft[] = []
  const owed: NewTimer[] = []
  const isExclusive = alarm.ack === 'report' && alarm.overlap !== 'allow'
  let timer: Timer | null = due
  while (timer !== null && timer.scheduledFor <= now) {
    if (owed.length === OWED_MAX) {
      events.push(skippedRecord(alarm, timer, 'misfire', now, missedRange(alarm, timer, now)))
      return { events, owed }
    }
    const facts = { canRun: true, isPaused: false, openCount: isExclusive ? open + owed.length : 0 }
    const decision = triage({ alarm, timer, others: [] }, facts, context)
    if (decision.kind === 'fire') {
      events.push(...(decision.change?.events ?? []))
      owed.push(owedTimer(alarm, decision.timer, now))
      timer = onward(timer, following(alarm, decision.timer))
    } else if (decision.kind === 'settle') {
      events.push(...(decision.change.events ?? []))
      const next: TimerUpdate | undefined = decision.change.update?.find((move) => move.id === due.id)
      if (next?.waiting === 'overlap') {
        // Nothing would release it: the occurrence that it waits for belongs to the old definition.
        events.push(skippedRecord(alarm, timer, 'rescheduled', now, missedRange(alarm, timer, now)))
        return { events, owed }
      }
      timer = next === undefined || (next.kind ?? 'due') !== 'due' ? null : { ...timer, ...next }
    } else return { events, owed }
  }
  return { events: [...events, ...daysOffRecords(alarm, timer, context)], owed }
}

/** The occurrence beside those of the new rule. It is no misfire any more, and does not lead to another one. */
function owedTimer(alarm: Alarm, { scheduledFor, tick, generation }: Timer, now: number): NewTimer {
  const wakeAt = Math.max(now, wakeTime(alarm.rule, alarm.id, scheduledFor))
  return { ...BLANK_TIMER, kind: 'retry', wakeAt, scheduledFor, tick, generation }
}

function onward(timer: Timer, next: NewTimer | null): Timer | null {
  return next === null ? null : { ...timer, ...next }
}
