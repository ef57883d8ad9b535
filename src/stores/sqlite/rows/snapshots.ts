import type { Scope, Serial, Snapshot, Timer } from '../../../alarm/index.ts'
import { alarmOf, type OutcomeRow, outcomeOf, type StoredAlarm, timerOf, type Values } from '../../index.ts'
import type { Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'
import { withCalendars } from './calendars.ts'

/** A snapshot of an alarm, with its row number. */
export interface StoredSnapshot extends Snapshot {
  readonly alarm: StoredAlarm
}

/** The ways to name one of an owner's alarms. */
export type AlarmName =
  | { readonly id: string }
  | { readonly key: string }
  | { readonly idempotencyKey: string }

/** Reads an alarm by one of its names; undefined if this owner has none (promise: isolated). */
export function alarmNamed(session: Session, scope: Scope, name: AlarmName): StoredAlarm | undefined {
  const { tenant, owner } = scope
  let row: Values | undefined
  if ('id' in name) row = session.value(sql.alarmById, name.id, tenant, owner)
  else if ('key' in name) row = session.value(sql.alarmByKey, tenant, owner, name.key)
  else
    row =
      session.value(sql.alarmByIdempotencyKey, tenant, owner, name.idempotencyKey) ??
      replaced(session, scope, name)
  return row && withCalendars(session, alarmOf(row))
}

/** The alarm that had this idempotency key before an upsert replaced it. */
function replaced(session: Session, scope: Scope, name: { idempotencyKey: string }): Values | undefined {
  const kept = session.get<{ alarm: number }>(
    sql.replacedIdempotencyKey,
    scope.tenant,
    scope.owner,
    name.idempotencyKey,
  )
  return kept && session.value(sql.alarmBySeq, kept.alarm)
}

/** Reads an alarm by its row. */
export function alarmAt(session: Session, seq: Serial): StoredAlarm | undefined {
  const row = session.value(sql.alarmBySeq, seq)
  return row && withCalendars(session, alarmOf(row))
}

/** Reads the alarm's timers. */
export function timersOf(session: Session, alarm: StoredAlarm): Timer[] {
  return session.values(sql.timersOfAlarm, alarm.tenant, alarm.owner, alarm.seq).map(timerOf)
}

/** Reads an alarm's timers and outcome. Callers pass `inFlight` only if their decision depends on it. */
export function snapshotOf(
  session: Session,
  alarm: StoredAlarm,
  inFlight: InFlight = NOTHING_IN_FLIGHT,
): StoredSnapshot {
  const timers = timersOf(session, alarm)
  const outcome = outcomeOf(session.get<OutcomeRow>(sql.outcomeOfAlarm, alarm.seq))
  const ids = timers.filter((timer) => inFlight.has(timer)).map((timer) => timer.id)
  return { alarm, timers, outcome, inFlight: new Set(ids) }
}

/** Which timers are recorded as being delivered. */
export interface InFlight {
  has(timer: Timer): boolean
}

const NOTHING_IN_FLIGHT: InFlight = { has: () => false }

/** A row of `in_flight_batches`. */
export interface InFlightBatchRow {
  id: number
  shard: number
  epoch: number
  /** JSON: id, version, id, version, … */
  timers: string
}

/** Reads the in-flight batches on the first call of `has`, and only then. */
export function readInFlight(session: Session): InFlight {
  let keys: Set<string> | null = null
  return {
    has: (timer) => {
      keys ??= new Set(session.all<InFlightBatchRow>(sql.inFlightBatches).flatMap(timerKeys))
      return keys.has(`${timer.id}:${timer.version}`)
    },
  }
}

/** A batch's timers as `id:version`. */
function timerKeys(row: InFlightBatchRow): string[] {
  return batchTimers(row).map(([id, version]) => `${id}:${version}`)
}

/** The ids and versions of a batch's timers. */
export function batchTimers(row: InFlightBatchRow): [number, number][] {
  const flat = JSON.parse(row.timers) as number[]
  const pairs: [number, number][] = []
  for (let i = 0; i + 1 < flat.length; i += 2) pairs.push([flat[i]!, flat[i + 1]!])
  return pairs
}
