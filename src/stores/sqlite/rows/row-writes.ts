import type {
  Alarm,
  Change,
  Context,
  EndStatus,
  EventDraft,
  Failure,
  NewTimer,
  Outcome,
  Serial,
  Timer,
  TimerUpdate,
} from '../../../alarm/index.ts'
import {
  alarmValues,
  applyRest,
  type ChangeWrites,
  eventValues,
  type OutcomeAlarm,
  outcomeValues,
  type StoredAlarm,
  Tallies,
  timerValues,
} from '../../index.ts'
import type { Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'

/** The shard of a pool. */
type ShardOf = (session: Session, pool: string) => number

/** Writes changes row by row, within the caller's transaction. */
export class RowWrites implements ChangeWrites {
  readonly session: Session
  readonly context: Context
  readonly tallies: Tallies
  readonly shardOf: ShardOf

  constructor(session: Session, context: Context, shardOf: ShardOf, tallies = new Tallies()) {
    this.session = session
    this.context = context
    this.shardOf = shardOf
    this.tallies = tallies
  }

  /** Writes the changes of the tallies: one row per owner. */
  finish(): void {
    for (const { scope, sums } of this.tallies.drain())
      this.session.run(sql.addTally, scope.tenant, scope.owner, ...sums)
  }

  removeTimer(id: Serial): void {
    this.session.run(sql.removeTimer, id)
  }

  moveTimer(timer: Timer, move: TimerUpdate): void {
    this.session.run(sql.moveTimer, ...timerValues(timer, move), timer.id)
  }

  addTimer(alarm: StoredAlarm, timer: NewTimer): void {
    const { seq, tenant, owner, target } = alarm
    const shard = this.shardOf(this.session, target.pool)
    this.session.run(sql.insertTimer, seq, tenant, owner, target.name, shard, ...timerValues(timer))
  }

  markEdited(id: Serial): void {
    this.session.run(sql.markTimerEdited, id)
  }

  storeEarlyReport(id: Serial, text: string): void {
    this.session.run(sql.storeEarlyReport, text, id)
  }

  /** Returns the alarm with its row number. An imported alarm's timers are added one by one. */
  insertAlarm(alarm: Alarm, timer: NewTimer | null): StoredAlarm {
    const { lastInsertRowid: seq } = this.session.run(sql.insertAlarm, ...alarmValues(alarm))
    const stored = { ...alarm, seq }
    if (timer !== null) this.addTimer(stored, timer)
    this.tallies.created(alarm)
    return stored
  }

  replaceAlarm(before: StoredAlarm, after: Alarm): void {
    const { tenant, owner, idempotencyKey, seq } = before
    this.session.run(sql.updateAlarm, ...alarmValues(after), seq)
    if (idempotencyKey !== null && idempotencyKey !== after.idempotencyKey)
      this.session.run(sql.insertReplacedIdempotencyKey, tenant, owner, idempotencyKey, seq)
  }

  retarget({ seq, tenant, owner, target }: StoredAlarm): void {
    const shard = this.shardOf(this.session, target.pool)
    this.session.run(sql.retargetTimers, target.name, shard, tenant, owner, seq)
  }

  removeOutcome(alarm: Serial): void {
    this.session.run(sql.removeOutcome, alarm)
  }

  putOutcome({ seq, tenant, owner, target }: OutcomeAlarm, outcome: Outcome): void {
    this.session.run(sql.putOutcome, seq, tenant, owner, target.name, ...outcomeValues(outcome))
  }

  putStatus({ seq, tenant, owner, target }: OutcomeAlarm, status: EndStatus): void {
    this.session.run(sql.putStatus, seq, tenant, owner, target.name, status)
  }

  addEvent(alarm: StoredAlarm, event: EventDraft, context: Context): void {
    this.session.run(sql.insertEvent, ...eventValues(context.newId(), alarm, event))
  }

  restateFailure(alarm: Serial, was: Failure, is: Failure | null, occurrence: string | null): void {
    this.session.run(sql.restateFailure, is, alarm, was, occurrence)
  }
}

/**
 * Writes a settle's change if its timer is still as it was claimed. Otherwise writes nothing and returns false; the caller
 * then decides again with current rows.
 */
export function applyClaimed(writes: RowWrites, alarm: StoredAlarm, claimed: Timer, change: Change): boolean {
  const { session } = writes
  const { id, version } = claimed
  const move = change.update?.find((each) => each.id === id)
  if (move === undefined && change.remove?.includes(id) !== true) return false
  const { changes } =
    move === undefined
      ? session.run(sql.removeClaimedTimer, id, version)
      : session.run(sql.moveClaimedTimer, ...timerValues(claimed, move), id, version)
  if (changes === 0) return false
  applyRest(writes, alarm, change, writes.context)
  return true
}
