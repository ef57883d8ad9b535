import {
  type Alarm,
  type Change,
  type Context,
  type EndStatus,
  type EventDraft,
  type Failure,
  isFailure,
  type NewTimer,
  type Outcome,
  type Serial,
  type Tally,
  type Timer,
  type TimerUpdate,
} from '../alarm/index.ts'
import type { StoredAlarm, Tallies } from './rows.ts'

/** An alarm, as far as its outcome is stored with it. */
export type OutcomeAlarm = Pick<StoredAlarm, 'seq' | 'tenant' | 'owner'> & {
  readonly target: Pick<StoredAlarm['target'], 'name'>
}

/** The writes of changes in one transaction. A store runs each at once, or collects them. */
export interface ChangeWrites {
  readonly tallies: Tallies
  removeTimer(id: Serial): void
  moveTimer(timer: Timer, move: TimerUpdate): void
  addTimer(alarm: StoredAlarm, timer: NewTimer): void
  markEdited(id: Serial): void
  /** Stores a report that arrived while its occurrence was still being delivered: the settle applies it. */
  storeEarlyReport(id: Serial, text: string): void
  /** Adds a new alarm with its first timer. */
  insertAlarm(alarm: Alarm, timer: NewTimer): unknown
  replaceAlarm(before: StoredAlarm, after: Alarm): void
  /** Moves the alarm's timers to its new target. */
  retarget(alarm: StoredAlarm, timers: readonly Timer[]): void
  removeOutcome(alarm: Serial): void
  putOutcome(alarm: OutcomeAlarm, outcome: Outcome): void
  /** Ends the alarm, and leaves the rest of its outcome as it is. */
  putStatus(alarm: OutcomeAlarm, status: EndStatus): void
  addEvent(alarm: StoredAlarm, event: EventDraft, context: Context): void
  /** The failure of this kind of an occurrence (null: the alarm's newest) is another one now, or none. */
  restateFailure(alarm: Serial, was: Failure, is: Failure | null, occurrence: string | null): void
}

const NONE: readonly never[] = []

/** Writes a change. */
export function apply(
  writes: ChangeWrites,
  alarm: StoredAlarm,
  timers: readonly Timer[],
  change: Change,
  context: Context,
): void {
  for (const id of change.remove ?? NONE) writes.removeTimer(id)
  for (const move of change.update ?? NONE) {
    const timer = timers.find(({ id }) => id === move.id)
    if (timer !== undefined) writes.moveTimer(timer, move)
  }
  applyRest(writes, alarm, change, context)
  const { target, seq } = alarm
  const after = change.alarm ?? alarm
  if (after.target.name !== target.name || after.target.pool !== target.pool)
    writes.retarget({ ...after, seq }, timers)
}

/** Writes a change, except for the timer that it was decided on. */
export function applyRest(writes: ChangeWrites, alarm: StoredAlarm, change: Change, context: Context): void {
  for (const id of change.markEdited ?? NONE) writes.markEdited(id)
  for (const { id, ok, text } of change.reports ?? NONE)
    writes.storeEarlyReport(id, JSON.stringify({ ok, text }))
  if (change.alarm !== undefined) writes.replaceAlarm(alarm, change.alarm)
  const record = change.alarm === undefined ? alarm : { ...change.alarm, seq: alarm.seq }
  for (const timer of change.add ?? NONE) writes.addTimer(record, timer)
  if (change.outcome === null) writes.removeOutcome(alarm.seq)
  else if (change.outcome !== undefined) writes.putOutcome(record, change.outcome)
  if (change.status !== undefined) writes.putStatus(record, change.status)
  for (const event of change.events ?? NONE) writes.addEvent(record, event, context)
  if (change.tally !== undefined) addTally(writes, record, change.tally, change.restates ?? null)
  for (const { alarm: spawned, timer } of change.spawn ?? NONE) writes.insertAlarm(spawned, timer)
}

/** Counts a change. What is no longer counted as a failure, because of a retry or a late report, is not listed as one either. */
function addTally(writes: ChangeWrites, alarm: StoredAlarm, tally: Tally, occurrence: string | null): void {
  writes.tallies.add(alarm, tally)
  if (isFailure(tally.from))
    writes.restateFailure(alarm.seq, tally.from, isFailure(tally.to) ? tally.to : null, occurrence)
}
