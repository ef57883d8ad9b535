import {
  type Alarm,
  type Change,
  type Context,
  eventJson,
  type NewTimer,
  type Outcome,
  type Timer,
} from '../../../alarm/index.ts'
import { alarmValues, type StoredAlarm, type Tallies } from '../../index.ts'
import type { Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'

/** What a write needs: the connection, the tallies it adds to, and the shards of pools. */
export interface WriteContext {
  readonly session: Session
  readonly tallies: Tallies
  readonly context: Context
  readonly shardOf: (session: Session, pool: string) => number
}

const NONE: readonly never[] = []

/** Writes a decision's change, within the caller's transaction. */
export function apply(
  write: WriteContext,
  alarm: StoredAlarm,
  timers: readonly Timer[],
  change: Change,
): void {
  for (const id of change.remove ?? NONE) write.session.run(sql.removeTimer, id)
  for (const move of change.update ?? NONE) {
    const timer = timers.find((each) => each.id === move.id)
    if (timer !== undefined) write.session.run(sql.moveTimer, ...timerValues(timer, move), move.id)
  }
  applyRest(write, alarm, change)
}

/**
 * Writes a settle's change if its timer is still as it was claimed. Otherwise writes nothing and returns false; the caller
 * then decides again with current rows.
 */
export function applyClaimed(
  write: WriteContext,
  alarm: StoredAlarm,
  claimed: Timer,
  change: Change,
): boolean {
  const { session } = write
  const move = change.update?.find((each) => each.id === claimed.id)
  if (move !== undefined) {
    const values = timerValues(claimed, move)
    if (session.run(sql.moveClaimedTimer, ...values, claimed.id, claimed.version).changes === 0) return false
  } else if (change.remove?.includes(claimed.id)) {
    if (session.run(sql.removeClaimedTimer, claimed.id, claimed.version).changes === 0) return false
  } else {
    return false
  }
  applyRest(write, alarm, change)
  return true
}

function applyRest(write: WriteContext, alarm: StoredAlarm, change: Change): void {
  const { session } = write
  for (const id of change.markEdited ?? NONE) session.run(sql.markTimerEdited, id)
  for (const { id, ok, text } of change.reports ?? NONE)
    session.run(sql.reportTimer, JSON.stringify({ ok, text }), id)
  if (change.alarm !== undefined) replaceAlarm(write, alarm, change.alarm)
  const record = change.alarm === undefined ? alarm : { ...change.alarm, seq: alarm.seq }
  for (const timer of change.add ?? NONE) insertTimer(write, record, timer)
  if (change.outcome === null) session.run(sql.removeOutcome, alarm.seq)
  else if (change.outcome !== undefined) putOutcome(session, record, change.outcome)
  if (change.status !== undefined) {
    const { seq, tenant, owner, target } = record
    session.run(sql.putStatus, seq, tenant, owner, target.name, change.status)
  }
  for (const event of change.events ?? NONE) {
    const { tenant, owner, subject, correlationId } = record
    const { type, origin, occurrence, at } = event
    const names = [write.context.newId(), tenant, owner, type, origin, alarm.seq, occurrence, subject]
    session.run(sql.insertEvent, ...names, correlationId, at, eventJson(event))
  }
  if (change.tally !== undefined) write.tallies.add(record, change.tally)
  for (const { alarm: spawned, timer } of change.spawn ?? NONE) insertAlarm(write, spawned, timer)
}

/** Writes a new alarm and its first timer, if it has one; returns the alarm with its row number. */
export function insertAlarm(write: WriteContext, alarm: Alarm, timer: NewTimer | null): StoredAlarm {
  const { lastInsertRowid: seq } = write.session.run(sql.insertAlarm, ...alarmValues(alarm))
  const stored = { ...alarm, seq }
  if (timer !== null) insertTimer(write, stored, timer)
  write.tallies.created(alarm)
  return stored
}

/** Writes a timer of an alarm. */
export function insertTimer(write: WriteContext, alarm: StoredAlarm, timer: NewTimer): void {
  const { seq, tenant, owner, target } = alarm
  const shard = write.shardOf(write.session, target.pool)
  write.session.run(sql.insertTimer, seq, tenant, owner, target.name, shard, ...timerValues(timer))
}

function replaceAlarm(write: WriteContext, before: StoredAlarm, after: Alarm): void {
  write.session.run(sql.updateAlarm, ...alarmValues(after), before.seq)
  const { tenant, owner, idempotencyKey, seq } = before
  if (idempotencyKey !== null && idempotencyKey !== after.idempotencyKey)
    write.session.run(sql.insertReplacedIdempotencyKey, tenant, owner, idempotencyKey, seq)
  if (before.target.name === after.target.name && before.target.pool === after.target.pool) return
  retarget(write, { ...after, seq })
}

/** Moves the alarm's timers to its target. */
export function retarget(write: WriteContext, alarm: StoredAlarm): void {
  const shard = write.shardOf(write.session, alarm.target.pool)
  write.session.run(sql.retargetTimers, alarm.target.name, shard, alarm.tenant, alarm.owner, alarm.seq)
}

/** Writes or replaces the alarm's outcome. */
export function putOutcome(
  session: Session,
  alarm: Pick<StoredAlarm, 'seq' | 'tenant' | 'owner'> & { readonly target: { readonly name: string } },
  outcome: Outcome,
): void {
  const { seq, tenant, owner, target } = alarm
  const { status, startedAt, lastFiredAt, completedAt, durationMs, result, lastError } = outcome
  const instants = [startedAt, lastFiredAt, completedAt, durationMs]
  const rest = [result, lastError, outcome.failureCount, outcome.attempts]
  session.run(sql.putOutcome, seq, tenant, owner, target.name, status, ...instants, ...rest)
}

/** A timer's columns after a move; what the move does not name stays. Written out, because copying objects is slower. */
function timerValues(timer: NewTimer, move: Partial<NewTimer> = timer) {
  const delivered = move.delivered ?? timer.delivered
  return [
    move.kind ?? timer.kind,
    orBefore(move.wakeAt, timer.wakeAt),
    move.scheduledFor ?? timer.scheduledFor,
    orBefore(move.nominal, timer.nominal),
    orBefore(move.zoneOffset, timer.zoneOffset),
    orBefore(move.floor, timer.floor),
    move.tick ?? timer.tick,
    move.generation ?? timer.generation,
    move.attempt ?? timer.attempt,
    orBefore(move.startedAt, timer.startedAt),
    orBefore(move.waiting, timer.waiting),
    delivered ? 1 : 0,
  ] as const
}

/** The new value, which may be null; the one before if there is none. */
function orBefore<T>(value: T | undefined, before: T): T {
  return value === undefined ? before : value
}

/** Writes the changes of the tallies: one row per owner. */
export function writeTallies(session: Session, tallies: Tallies): void {
  for (const { scope, sums } of tallies.drain()) {
    session.run(sql.addTally, scope.tenant, scope.owner, ...sums)
  }
}
