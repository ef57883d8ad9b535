import type { ReadScope, Serial, Timer } from '../../../alarm/index.ts'
import {
  type AlarmName,
  alarmOf,
  outcomeOf,
  type StoredAlarm,
  type StoredSnapshot,
  timerOf,
  type Values,
} from '../../index.ts'
import type { Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'
import { withCalendars } from './calendars.ts'

/** Reads an alarm by one of its names; undefined if this scope has none (promise: isolated). */
export function alarmNamed(session: Session, scope: ReadScope, name: AlarmName): StoredAlarm | undefined {
  const { tenant, owner } = scope
  let row: Values | undefined
  if ('id' in name) row = session.value(sql.alarmById, name.id, tenant, owner)
  else if ('key' in name) row = session.value(sql.alarmByKey, tenant, owner, name.key)
  else row = rowOfIdempotencyKey(session, [tenant, owner, name.idempotencyKey])
  return row && withCalendars(session, alarmOf(row))
}

/** Finds an alarm by its idempotency key, or by one that it had before an upsert. */
function rowOfIdempotencyKey(session: Session, scopeAndKey: readonly (string | null)[]): Values | undefined {
  const row = session.value(sql.alarmByIdempotencyKey, ...scopeAndKey)
  if (row !== undefined) return row
  const replaced = session.get<{ alarm: number }>(sql.replacedIdempotencyKey, ...scopeAndKey)
  return replaced && session.value(sql.alarmBySeq, replaced.alarm)
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
export function snapshotOf(session: Session, alarm: StoredAlarm, inFlight?: InFlight): StoredSnapshot {
  const timers = timersOf(session, alarm)
  const row = session.value(sql.outcomeOfAlarm, alarm.seq)
  const ids = inFlight === undefined ? [] : timers.filter(inFlight.has).map((timer) => timer.id)
  return { alarm, timers, outcome: row === undefined ? null : outcomeOf(row), inFlight: new Set(ids) }
}

/** Which timers are recorded as being delivered. */
export interface InFlight {
  has(timer: Timer): boolean
}

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
    has: ({ id, version }) => {
      keys ??= new Set(
        session
          .all<InFlightBatchRow>(sql.inFlightBatches)
          .flatMap(batchTimers)
          .map((pair) => pair.join(':')),
      )
      return keys.has(`${id}:${version}`)
    },
  }
}

/** The ids and versions of a batch's timers. */
export function batchTimers(row: InFlightBatchRow): [number, number][] {
  const flat = JSON.parse(row.timers) as number[]
  const pairs: [number, number][] = []
  for (let i = 0; i + 1 < flat.length; i += 2) pairs.push([flat[i]!, flat[i + 1]!])
  return pairs
}
