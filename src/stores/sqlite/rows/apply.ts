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

/** What applying changes needs: the connection, the figures being gathered, and where pools live. */
export interface WriteContext {
  readonly session: Session
  readonly tallies: Tallies
  readonly context: Context
  readonly shardOf: (session: Session, pool: string) => number
}

const NONE: readonly never[] = []

/** Writes everything a decision says. The caller's transaction makes it all or nothing. */
export function apply(
  desk: WriteContext,
  alarm: StoredAlarm,
  timers: readonly Timer[],
  change: Change,
): void {
  for (const id of change.remove ?? NONE) desk.session.run(sql.removeTimer, id)
  for (const move of change.move ?? NONE) {
    const timer = timers.find((each) => each.id === move.id)
    if (timer !== undefined) desk.session.run(sql.moveTimer, ...placeValues(timer, move), move.id)
  }
  applyRest(desk, alarm, change)
}

/**
 * Writes a settle's change, whose own timer must still be as it was taken.
 * Answers false, having written nothing, where it is not: the caller then looks again.
 */
export function applyTaken(desk: WriteContext, alarm: StoredAlarm, taken: Timer, change: Change): boolean {
  const { session } = desk
  const move = change.move?.find((each) => each.id === taken.id)
  if (move !== undefined) {
    const place = placeValues(taken, move)
    if (session.run(sql.moveTakenTimer, ...place, taken.id, taken.version).changes === 0) return false
  } else if (change.remove?.includes(taken.id)) {
    if (session.run(sql.removeTakenTimer, taken.id, taken.version).changes === 0) return false
  } else {
    return false
  }
  applyRest(desk, alarm, change)
  return true
}

function applyRest(desk: WriteContext, alarm: StoredAlarm, change: Change): void {
  const { session } = desk
  for (const id of change.markEdited ?? NONE) session.run(sql.markTimerEdited, id)
  for (const { id, ok, text } of change.reports ?? NONE)
    session.run(sql.reportTimer, JSON.stringify({ ok, text }), id)
  if (change.alarm !== undefined) replaceAlarm(desk, alarm, change.alarm)
  const record = change.alarm === undefined ? alarm : { ...change.alarm, seq: alarm.seq }
  for (const timer of change.add ?? NONE) insertTimer(desk, record, timer)
  if (change.outcome === null) session.run(sql.removeOutcome, alarm.seq)
  else if (change.outcome !== undefined) putOutcome(session, record, change.outcome)
  if (change.status !== undefined) {
    const { seq, tenant, owner, target } = record
    session.run(sql.putStatus, seq, tenant, owner, target.name, change.status)
  }
  for (const event of change.events ?? NONE) {
    session.run(
      sql.insertEvent,
      desk.context.newId(),
      record.tenant,
      record.owner,
      event.type,
      event.origin,
      alarm.seq,
      event.occurrence,
      record.subject,
      record.correlationId,
      event.at,
      eventJson(event),
    )
  }
  if (change.tally !== undefined) desk.tallies.add(record, change.tally)
  for (const { alarm: spawned, timer } of change.spawn ?? NONE) insertAlarm(desk, spawned, timer)
}

/** Writes a new alarm, with its first timer where it has one; answers the row it got. */
export function insertAlarm(desk: WriteContext, alarm: Alarm, timer: NewTimer | null): StoredAlarm {
  const { lastInsertRowid: seq } = desk.session.run(sql.insertAlarm, ...alarmValues(alarm))
  const stored = { ...alarm, seq }
  if (timer !== null) insertTimer(desk, stored, timer)
  desk.tallies.created(alarm)
  return stored
}

/** Writes a timer of the alarm's. */
export function insertTimer(desk: WriteContext, alarm: StoredAlarm, timer: NewTimer): void {
  const { seq, tenant, owner, target } = alarm
  const shard = desk.shardOf(desk.session, target.pool)
  desk.session.run(sql.insertTimer, seq, tenant, owner, target.name, shard, ...placeValues(timer))
}

function replaceAlarm(desk: WriteContext, before: StoredAlarm, after: Alarm): void {
  desk.session.run(sql.updateAlarm, ...alarmValues(after), before.seq)
  if (before.idempotencyKey !== null && before.idempotencyKey !== after.idempotencyKey) {
    desk.session.run(sql.keepIdempotencyKey, before.tenant, before.owner, before.idempotencyKey, before.seq)
  }
  if (before.target.name === after.target.name && before.target.pool === after.target.pool) return
  retarget(desk, { ...after, seq: before.seq })
}

/** Lets the alarm's timers follow its target. */
export function retarget(desk: WriteContext, alarm: StoredAlarm): void {
  const shard = desk.shardOf(desk.session, alarm.target.pool)
  desk.session.run(sql.retargetTimers, alarm.target.name, shard, alarm.tenant, alarm.owner, alarm.seq)
}

/** Writes the alarm's summary, or replaces it. */
export function putOutcome(session: Session, alarm: StoredAlarm, outcome: Outcome): void {
  session.run(
    sql.putOutcome,
    alarm.seq,
    alarm.tenant,
    alarm.owner,
    alarm.target.name,
    outcome.status,
    outcome.startedAt,
    outcome.lastFiredAt,
    outcome.completedAt,
    outcome.durationMs,
    outcome.result,
    outcome.lastError,
    outcome.failureCount,
    outcome.attempts,
  )
}

/** The values of a timer's place, after a move where there is one: what that does not name stays. Nothing is copied. */
function placeValues(timer: NewTimer, move: Partial<NewTimer> = timer) {
  const delivered = move.delivered ?? timer.delivered
  return [
    move.kind ?? timer.kind,
    moved(move.wakeAt, timer.wakeAt),
    move.scheduledFor ?? timer.scheduledFor,
    moved(move.nominal, timer.nominal),
    moved(move.zoneOffset, timer.zoneOffset),
    moved(move.floor, timer.floor),
    move.tick ?? timer.tick,
    move.generation ?? timer.generation,
    move.attempt ?? timer.attempt,
    moved(move.startedAt, timer.startedAt),
    moved(move.waiting, timer.waiting),
    delivered ? 1 : 0,
  ] as const
}

/** Null is a value too. */
function moved<T>(value: T | undefined, before: T): T {
  return value === undefined ? before : value
}
