import {
  type Alarm,
  type Change,
  type Context,
  eventJson,
  type NewTimer,
  type Outcome,
  type Timer,
  type TimerMove,
} from '../../alarm/index.ts'
import type { Tallies } from '../index.ts'
import { alarmValues, type StoredAlarm } from '../index.ts'
import * as sql from './queries.ts'
import type { Session } from './session.ts'

/** What applying changes needs: the connection, the figures being gathered, and where pools live. */
export interface Desk {
  readonly session: Session
  readonly tallies: Tallies
  readonly context: Context
  readonly shardOf: (session: Session, pool: string) => number
}

/** Writes everything a decision says. The caller's transaction makes it all or nothing. */
export function apply(desk: Desk, alarm: StoredAlarm, timers: readonly Timer[], change: Change): void {
  for (const id of change.remove ?? []) desk.session.run(sql.removeTimer, id)
  for (const move of change.move ?? []) {
    const timer = timers.find((each) => each.id === move.id)
    if (timer !== undefined) desk.session.run(sql.moveTimer, ...placeValues(placeOf(timer, move)), move.id)
  }
  applyRest(desk, alarm, change)
}

/**
 * Writes a settle's change, whose own timer must still be as it was taken.
 * Answers false, having written nothing, where it is not: the caller then looks again.
 */
export function applyTaken(desk: Desk, alarm: StoredAlarm, taken: Timer, change: Change): boolean {
  const { session } = desk
  const move = change.move?.find((each) => each.id === taken.id)
  if (move !== undefined) {
    const place = placeValues(placeOf(taken, move))
    if (session.run(sql.moveTakenTimer, ...place, taken.id, taken.version).changes === 0) return false
  } else if (change.remove?.includes(taken.id)) {
    if (session.run(sql.removeTakenTimer, taken.id, taken.version).changes === 0) return false
  } else {
    return false
  }
  applyRest(desk, alarm, change)
  return true
}

function applyRest(desk: Desk, alarm: StoredAlarm, change: Change): void {
  const { session } = desk
  for (const id of change.markEdited ?? []) session.run(sql.markTimerEdited, id)
  for (const { id, ok, text } of change.reports ?? [])
    session.run(sql.reportTimer, JSON.stringify({ ok, text }), id)
  if (change.alarm !== undefined) replaceAlarm(desk, alarm, change.alarm)
  const record = change.alarm === undefined ? alarm : { ...change.alarm, seq: alarm.seq }
  for (const timer of change.add ?? []) insertTimer(desk, record, timer)
  if (change.outcome === null) session.run(sql.removeOutcome, alarm.seq)
  else if (change.outcome !== undefined) putOutcome(session, record, change.outcome)
  if (change.status !== undefined) {
    const { seq, tenant, owner, target } = record
    session.run(sql.putStatus, seq, tenant, owner, target.name, change.status)
  }
  for (const event of change.events ?? []) {
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
  for (const { alarm: spawned, timer } of change.spawn ?? []) insertAlarm(desk, spawned, timer)
}

/** Writes a new alarm, with its first timer where it has one; answers the row it got. */
export function insertAlarm(desk: Desk, alarm: Alarm, timer: NewTimer | null): StoredAlarm {
  const { lastInsertRowid: seq } = desk.session.run(sql.insertAlarm, ...alarmValues(alarm))
  const stored = { ...alarm, seq }
  if (timer !== null) insertTimer(desk, stored, timer)
  desk.tallies.created(alarm)
  return stored
}

/** Writes a timer of the alarm's. */
export function insertTimer(desk: Desk, alarm: StoredAlarm, timer: NewTimer): void {
  const { seq, tenant, owner, target } = alarm
  const shard = desk.shardOf(desk.session, target.pool)
  desk.session.run(sql.insertTimer, seq, tenant, owner, target.name, shard, ...placeValues(timer))
}

function replaceAlarm(desk: Desk, before: StoredAlarm, after: Alarm): void {
  desk.session.run(sql.updateAlarm, ...alarmValues(after), before.seq)
  if (before.idempotencyKey !== null && before.idempotencyKey !== after.idempotencyKey) {
    desk.session.run(sql.keepIdempotencyKey, before.tenant, before.owner, before.idempotencyKey, before.seq)
  }
  if (before.target.name === after.target.name && before.target.pool === after.target.pool) return
  retarget(desk, { ...after, seq: before.seq })
}

/** Lets the alarm's timers follow its target. */
export function retarget(desk: Desk, alarm: StoredAlarm): void {
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

/** Most moves name a whole place: then nothing of the timer stays, and nothing is copied. */
function placeOf(timer: Timer, move: TimerMove): NewTimer {
  return isWhole(move) ? move : { ...timer, ...move }
}

function isWhole(move: TimerMove): move is TimerMove & NewTimer {
  return PLACE.every((name) => move[name] !== undefined)
}

const PLACE = [
  'kind', 'wakeAt', 'scheduledFor', 'nominal', 'zoneOffset', 'tick', 'generation', 'attempt', 'startedAt', 'waiting',
  'delivered',
] as const satisfies readonly (keyof NewTimer)[] // biome-ignore format: a list

function placeValues(timer: NewTimer) {
  const { kind, wakeAt, scheduledFor, nominal, zoneOffset, floor, tick, generation, attempt } = timer
  const place = [kind, wakeAt, scheduledFor, nominal, zoneOffset, floor, tick, generation, attempt] as const
  return [...place, timer.startedAt, timer.waiting, timer.delivered ? 1 : 0] as const
}
