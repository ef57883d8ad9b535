import { type Alarm, type Delivery, settle, type Timer } from '../../alarm/index.ts'
import type { Found, HeldTimers, Lease, Settled, Settlement, Taken, TakeRequest, Taking } from '../index.ts'
import { apply, applyTaken, type Desk } from './apply.ts'
import { quarantine } from './quarantine.ts'
import * as sql from './queries.ts'
import {
  alarmOf,
  alarmSeqOf,
  CorruptRow,
  type StoredAlarm,
  TIMER_COLUMNS,
  timerOf,
  type Values,
} from './rows.ts'
import type { Session } from './session.ts'
import { alarmAt, type FlightRow, flightTimers, timersOf } from './snapshots.ts'

/** Whether the lease is still its shard's. */
export function isOwn(session: Session, lease: Pick<Lease, 'shard' | 'epoch'>): boolean {
  return session.get<{ epoch: number }>(sql.shardEpoch, lease.shard)?.epoch === lease.epoch
}

/** Takes what is due in these shards, in one transaction with the record of what is now in flight. */
export function take(desk: Desk, leases: readonly Lease[], request: TakeRequest): Taken {
  const lost = leases.filter((lease) => !isOwn(desk.session, lease))
  const takings: Taking[] = []
  let more = false
  for (const lease of leases) {
    const room = request.limit - takings.length
    if (lost.includes(lease) || room <= 0) continue
    const due = dueIn(desk.session, lease, request, room)
    more ||= due.length >= room
    takings.push(...fly(desk, lease, triageAll(desk, due, request), request))
  }
  // With more to take, the engine comes back at once: what is due after that need not be known yet.
  if (more) return { takings, lost, more, nextWakeAt: request.context.now }
  return {
    takings,
    lost,
    more,
    nextWakeAt: nextWakeAt(desk.session, leases, heldWith(request.held, takings)),
  }
}

function heldWith(held: HeldTimers, takings: readonly Taking[]): HeldTimers {
  const taken = new Map(takings.map(({ timer }) => [timer.id, timer.version]))
  return {
    size: held.size + taken.size,
    has: (id, version) => taken.get(id) === version || held.has(id, version),
  }
}

/** Where the alarm's columns begin in a row of the due look. */
const ALARM_AT = TIMER_COLUMNS.length

function dueIn(session: Session, lease: Lease, request: TakeRequest, room: number): Values[] {
  const { held, context } = request
  const isFree = (row: Values) => !held.has(row[ID] as number, row[VERSION] as number)
  const look = (limit: number) => session.values(sql.dueTimers, lease.shard, context.now, limit)
  const rows = look(room)
  const free = rows.filter(isFree)
  // Held rows that stand first are passed over by a wider look; mostly there are none.
  if (free.length === rows.length || rows.length < room) return free
  return look(room + held.size)
    .filter(isFree)
    .slice(0, room)
}

const ID = TIMER_COLUMNS.indexOf('id')
const VERSION = TIMER_COLUMNS.indexOf('version')

/** The earliest wake in these shards that is not held. */
export function nextWakeAt(session: Session, leases: readonly Lease[], held: HeldTimers): number | null {
  let earliest: number | null = null
  for (const lease of leases) {
    const next =
      nextFree(session, lease, held, 1) ??
      (held.size === 0 ? null : nextFree(session, lease, held, held.size + 1))
    if (next !== null && (earliest === null || next < earliest)) earliest = next
  }
  return earliest
}

function nextFree(session: Session, lease: Lease, held: HeldTimers, limit: number): number | null {
  const rows = session.values(sql.nextTimers, lease.shard, limit) as [number, number, number][]
  return rows.find(([id, version]) => !held.has(id, version))?.[2] ?? null
}

interface Ready {
  readonly alarm: StoredAlarm
  readonly timer: Timer
}

function triageAll(desk: Desk, rows: readonly Values[], request: TakeRequest): Ready[] {
  const ready: Ready[] = []
  for (const row of rows) {
    try {
      if (row[ALARM_AT] === null) throw new CorruptRow('its alarm is gone')
      const fired = triageOne(desk, { alarm: alarmOf(row, ALARM_AT), timer: timerOf(row) }, request)
      if (fired !== null) ready.push(fired)
    } catch (thrown) {
      if (!(thrown instanceof CorruptRow)) throw thrown
      quarantine(desk, row, thrown.message)
    }
  }
  // Priority orders what is due together; the due index keeps leading with time.
  return ready.sort((a, b) => b.alarm.priority - a.alarm.priority)
}

function triageOne(desk: Desk, due: Ready, request: TakeRequest): Ready | null {
  const { alarm, timer } = due
  const found: Found = { alarm, timer, others: null, openCount: openCount(desk.session, alarm) }
  let verdict = request.triage(found)
  let timers: readonly Timer[] = [timer]
  if (verdict.kind === 'look') {
    timers = timersOf(desk.session, alarm)
    verdict = request.triage({ ...found, others: timers })
  }
  if (verdict.kind === 'look') throw new CorruptRow('no decision could be made about it')
  if (verdict.change !== undefined) apply(desk, alarm, timers, verdict.change)
  return verdict.kind === 'fire' ? { alarm, timer: verdict.timer } : null
}

/** Only recurring alarms can have earlier occurrences open. */
function openCount(session: Session, alarm: StoredAlarm): number {
  if (alarm.rule.kind === 'once') return 0
  return (
    session.get<{ open: number }>(
      sql.openTimersOfAlarm,
      alarm.tenant,
      alarm.owner,
      alarm.seq,
      alarm.generation,
    )?.open ?? 0
  )
}

function fly(desk: Desk, lease: Lease, ready: readonly Ready[], request: TakeRequest): Taking[] {
  if (ready.length === 0) return []
  const flat = ready.flatMap(({ timer }) => [timer.id, timer.version])
  const { lastInsertRowid: id } = desk.session.run(
    sql.insertFlight,
    lease.shard,
    lease.epoch,
    request.context.now,
    JSON.stringify(flat),
  )
  const flight = { id, shard: lease.shard }
  return ready.map(({ alarm, timer }) => ({ lease, flight, alarm, timer }))
}

/** Writes outcomes: void for a lost lease (promise: fenced), skipped for a timer that has moved on. */
export function settleAll(
  desk: Desk,
  settlements: readonly Settlement[],
  landed: readonly { id: number }[],
): Settled {
  const verdicts = new Map<Lease, boolean>()
  const lost: Lease[] = []
  let stale = 0
  for (const settlement of settlements) {
    const { lease } = settlement
    let own = verdicts.get(lease)
    if (own === undefined) {
      own = isOwn(desk.session, lease)
      verdicts.set(lease, own)
      if (!own) lost.push(lease)
    }
    if (own && !settleOne(desk, settlement.alarm, settlement.timer, settlement.delivery)) stale += 1
  }
  for (const flight of landed) desk.session.run(sql.removeFlight, flight.id)
  return { lost, stale }
}

/** Answers whether the timer was still the one that was delivered. */
function settleOne(desk: Desk, alarm: Alarm, timer: Timer, delivery: Delivery): boolean {
  const stored = alarm as StoredAlarm
  const change = settle({ alarm, timer, others: null }, delivery, desk.context)
  if (change !== null && applyTaken(desk, stored, timer, change)) return true
  try {
    return settleLooking(desk, timer, delivery)
  } catch (thrown) {
    // One that became unreadable during its delivery is set aside: it must not hold up the settles beside it.
    if (!(thrown instanceof CorruptRow)) throw thrown
    const row = desk.session.value(sql.timerById, timer.id)
    if (row !== undefined) quarantine(desk, row, thrown.message)
    return true
  }
}

/** The slow way: something changed during the delivery, or the decision needs the alarm's other timers. */
function settleLooking(desk: Desk, taken: Timer, delivery: Delivery): boolean {
  const row = desk.session.value(sql.timerById, taken.id)
  if (row === undefined || row[VERSION] !== taken.version) return false
  const alarm = alarmAt(desk.session, alarmSeqOf(row))
  if (alarm === undefined) return false
  const others = timersOf(desk.session, alarm)
  const change = settle({ alarm, timer: timerOf(row), others }, delivery, desk.context)
  if (change !== null) apply(desk, alarm, others, change)
  return true
}

/** Counts what a former owner may have delivered as an attempt, so that a deadly handler ends some day. */
export function recoverFlights(desk: Desk, shard: number): number {
  const flights = desk.session.all<FlightRow>(sql.allFlights).filter((row) => row.shard === shard)
  let recovered = 0
  for (const flight of flights) {
    for (const [id, version] of flightTimers(flight)) {
      const row = desk.session.value(sql.timerById, id)
      if (row === undefined || row[VERSION] !== version) continue
      recovered += 1
      try {
        settleLooking(desk, timerOf(row), { kind: 'lost' })
      } catch (thrown) {
        if (!(thrown instanceof CorruptRow)) throw thrown
        quarantine(desk, row, thrown.message)
      }
    }
    desk.session.run(sql.removeFlight, flight.id)
  }
  return recovered
}
