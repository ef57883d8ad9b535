import type { Scope, Serial, Snapshot, Timer } from '../../../alarm/index.ts'
import { alarmOf, type OutcomeRow, outcomeOf, type StoredAlarm, timerOf, type Values } from '../../index.ts'
import type { Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'
import { withCalendars } from './calendars.ts'

/** All that is known of one alarm, with the row it is kept in. */
export interface StoredSnapshot extends Snapshot {
  readonly alarm: StoredAlarm
}

/** How an alarm may be named within its owner's. */
export type AlarmName =
  | { readonly id: string }
  | { readonly key: string }
  | { readonly idempotencyKey: string }

/** Reads an alarm by one of its names; undefined where this owner has none (promise: isolated). */
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

/** The alarm whose idempotency key this was before an upsert brought another. */
function replaced(session: Session, scope: Scope, name: { idempotencyKey: string }): Values | undefined {
  const kept = session.get<{ alarm: number }>(
    sql.keptIdempotencyKey,
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

/** Reads all that is known of an alarm; what is in flight only where a decision needs it. */
export function snapshotOf(
  session: Session,
  alarm: StoredAlarm,
  flights: Flights = NO_FLIGHTS,
): StoredSnapshot {
  const timers = timersOf(session, alarm)
  const outcome = outcomeOf(session.get<OutcomeRow>(sql.outcomeOfAlarm, alarm.seq))
  const inFlight = new Set(timers.filter((timer) => flights.has(timer)).map((timer) => timer.id))
  return { alarm, timers, outcome, inFlight }
}

/** Which timers are recorded as being delivered. */
export interface Flights {
  has(timer: Timer): boolean
}

const NO_FLIGHTS: Flights = { has: () => false }

/** A row of the flights' table. */
export interface FlightRow {
  id: number
  shard: number
  epoch: number
  /** JSON: id, version, id, version, … */
  timers: string
}

/** Reads what is in flight, at most once, and only when first asked. */
export function readFlights(session: Session): Flights {
  let flying: Set<string> | null = null
  return {
    has: (timer) => {
      flying ??= new Set(session.all<FlightRow>(sql.allFlights).flatMap(flightNames))
      return flying.has(`${timer.id}:${timer.version}`)
    },
  }
}

/** The names of a flight's timers, as `id:version`. */
function flightNames(row: FlightRow): string[] {
  return flightTimers(row).map(([id, version]) => `${id}:${version}`)
}

/** The ids and versions of a flight's timers. */
export function flightTimers(row: FlightRow): [number, number][] {
  const flat = JSON.parse(row.timers) as number[]
  const pairs: [number, number][] = []
  for (let i = 0; i + 1 < flat.length; i += 2) pairs.push([flat[i]!, flat[i + 1]!])
  return pairs
}
