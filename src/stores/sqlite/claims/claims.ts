import {
  type Change,
  type DeliveryOutcome,
  type Serial,
  settle,
  type Timer,
  type Verdict,
} from '../../../alarm/index.ts'
import { errorText } from '../../../error.ts'
import {
  ALARM_COLUMNS,
  alarmOf,
  alarmSeqOf,
  type Claimed,
  type ClaimedTimer,
  type ClaimRequest,
  CorruptRow,
  type DueTimer,
  type InFlightBatch,
  type InFlightTimers,
  type Lease,
  type Settlement,
  type SettleResult,
  type StoredAlarm,
  Tallies,
  TIMER_COLUMNS,
  timerOf,
  type Values,
  type WaitingFilter,
} from '../../index.ts'
import { isStoreTrouble, type Session } from '../connection/index.ts'
import {
  alarmAt,
  apply,
  applyTaken,
  type FlightRow,
  flightTimers,
  quarantine,
  retarget,
  timersOf,
  type WriteContext,
  withCalendars,
} from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import { fairDue, fairWakeAt, passOn } from './fair-scan.ts'

/** Whether the lease is still its shard's. */
export function isOwn(session: Session, lease: Pick<Lease, 'shard' | 'epoch'>): boolean {
  return session.get<{ epoch: number }>(sql.shardEpoch, lease.shard)?.epoch === lease.epoch
}

/** Takes what is due in these shards, in one transaction with the record of what is now in flight. */
export function take(desk: WriteContext, leases: readonly Lease[], request: ClaimRequest): Claimed {
  const lost = leases.filter((lease) => !isOwn(desk.session, lease))
  const takings: ClaimedTimer[] = []
  let more = false
  for (const lease of leases) {
    const room = request.limit - takings.length
    if (lost.includes(lease) || room <= 0) continue
    const { ready, isMore } = gather(desk, lease, request, room)
    more ||= isMore
    takings.push(...fly(desk, lease, ready, request))
  }
  if (request.avoid !== undefined) {
    const held = heldWith(request.inFlight, takings)
    passOn(desk.session, request)
    return {
      timers: takings,
      lost,
      more,
      nextWakeAt: fairWakeAt(desk.session, leases, { ...request, inFlight: held }),
    }
  }
  // With more to take, the engine comes back at once: what is due after that need not be known yet.
  if (more) return { timers: takings, lost, more, nextWakeAt: request.context.now }
  return {
    timers: takings,
    lost,
    more,
    nextWakeAt: nextWakeAt(desk.session, leases, heldWith(request.inFlight, takings)),
  }
}

/** Rows one take looks at in a shard: bounds its transaction where nothing has to be delivered. */
const LOOKED_MAX = 1_000

/**
 * Looks until there is as much to deliver as there are hands, or nothing more is due. What is settled at once takes no
 * hands, so it must not use up their room: else a drain of events would commit after every hundred of them.
 */
function gather(
  desk: WriteContext,
  lease: Lease,
  request: ClaimRequest,
  room: number,
): { ready: readonly Ready[]; isMore: boolean } {
  const ready: Ready[] = []
  for (let looked = 0; ; ) {
    const wanted = room - ready.length
    const held = ready.length === 0 ? request.inFlight : heldWith(request.inFlight, ready)
    const due = dueIn(desk.session, lease, { ...request, inFlight: held }, wanted)
    const { ready: found, cutShort, hasPassed } = triageAll(desk, due, request)
    ready.push(...found)
    looked += due.length
    const isMore = due.length >= wanted || cutShort || hasPassed
    // What was passed would be found again: whoever passed it comes back, and looks elsewhere.
    if (!isMore || cutShort || hasPassed || ready.length >= room || looked >= LOOKED_MAX)
      return { ready: byPriority(ready), isMore }
  }
}

/** Priority orders what is due together; the due index keeps leading with time. */
function byPriority(ready: Ready[]): Ready[] {
  return ready.sort((a, b) => b.alarm.priority - a.alarm.priority)
}

function heldWith(held: InFlightTimers, takings: readonly { readonly timer: Timer }[]): InFlightTimers {
  const taken = new Map(takings.map(({ timer }) => [timer.id, timer.version]))
  return {
    size: held.size + taken.size,
    has: (id, version) => taken.get(id) === version || held.has(id, version),
  }
}

/** Where the alarm's columns begin in a row of the due look, and where it says that the alarm has other timers. */
const ALARM_AT = TIMER_COLUMNS.length
const OTHERS_AT = ALARM_AT + 1 + ALARM_COLUMNS.length

function dueIn(session: Session, lease: Lease, request: ClaimRequest, room: number): Values[] {
  if (request.avoid !== undefined) return fairDue(session, lease, request, room)
  const { inFlight: held, context } = request
  const isHeld = (id: unknown, version: unknown) => held.has(id as number, version as number)
  const ids = (limit: number) => session.values(sql.dueIds, lease.shard, context.now, limit)
  const [[firstId, firstVersion] = []] = held.size === 0 ? [] : ids(1)
  if (firstId === undefined || !isHeld(firstId, firstVersion)) {
    const rows = session.values(sql.dueTimers, lease.shard, context.now, room)
    const free = rows.filter((row) => !isHeld(row[ID], row[VERSION]))
    if (free.length === rows.length || rows.length < room) return free
  }
  // Held rows stand first: they are passed over without reading all there is of them, and of their alarms.
  return ids(room + held.size)
    .filter(([id, version]) => !isHeld(id, version))
    .slice(0, room)
    .map(([id]) => session.value(sql.dueTimer, id as number)!)
}

const ID = TIMER_COLUMNS.indexOf('id')
const VERSION = TIMER_COLUMNS.indexOf('version')

/**
 * Whether more rows are due in one of these shards than are held, so that some are free whichever are held. Where it
 * says no, only a look at each can tell.
 */
export function isSurelyDue(session: Session, leases: readonly Lease[], request: ClaimRequest): boolean {
  if (request.avoid !== undefined) return false
  return leases.some(({ shard }) => {
    const [wakeAt] = (session.value(sql.wakeAfter, shard, request.inFlight.size) ?? []) as [number?]
    return wakeAt !== undefined && wakeAt <= request.context.now
  })
}

/** The earliest wake in these shards that is not held. */
export function nextWakeAt(session: Session, leases: readonly Lease[], held: InFlightTimers): number | null {
  let earliest: number | null = null
  for (const lease of leases) {
    const next =
      nextFree(session, lease, held, 1) ??
      (held.size === 0 ? null : nextFree(session, lease, held, held.size + 1))
    if (next !== null && (earliest === null || next < earliest)) earliest = next
  }
  return earliest
}

function nextFree(session: Session, lease: Lease, held: InFlightTimers, limit: number): number | null {
  const rows = session.values(sql.nextTimers, lease.shard, limit) as [number, number, number][]
  return rows.find(([id, version]) => !held.has(id, version))?.[2] ?? null
}

interface Ready {
  readonly alarm: StoredAlarm
  readonly timer: Timer
}

interface Triaged {
  readonly ready: readonly Ready[]
  readonly cutShort: boolean
  /** Whether something is due and was left as it is. */
  readonly hasPassed: boolean
}

/** Decides about each row. What cannot be decided or written is set aside, so that the rest go on. */
function triageAll(desk: WriteContext, rows: readonly Values[], request: ClaimRequest): Triaged {
  const ready: Ready[] = []
  let looked = 0
  let hasPassed = false
  for (const row of rows) {
    if (looked > 0 && request.isLong()) break
    looked += 1
    const decided = decide(desk, row, request)
    if (decided === null) continue
    const { alarm, verdict } = decided
    const { change } = verdict
    if (change !== undefined && !applyApart(desk, row, decided, change)) continue
    if (verdict.kind === 'fire') ready.push({ alarm, timer: verdict.timer })
    hasPassed ||= verdict.kind === 'pass'
  }
  return { ready, cutShort: looked < rows.length, hasPassed }
}

/** Answers whether it could be written. */
function applyApart(desk: WriteContext, row: Values, { alarm, timers }: Decided, change: Change): boolean {
  const write = (inner: WriteContext) => {
    apply(inner, alarm, timers, change)
    return true
  }
  return apart(desk, row, write) !== null
}

/**
 * Runs work about one row; when it fails, all it wrote is undone and the row is quarantined with the reason. Where
 * there are no savepoints, the failure is the whole transaction's, which is run again with them.
 */
function apart<T>(desk: WriteContext, row: Values, work: (desk: WriteContext) => T): T | null {
  const { session } = desk
  if (!session.savepoints) return session.undoable(() => work(desk))
  const tallies = new Tallies()
  try {
    const answer = session.undoable(() => work({ ...desk, tallies }))
    desk.tallies.merge(tallies)
    return answer
  } catch (thrown) {
    if (isStoreTrouble(thrown)) throw thrown
    quarantine(desk, row, errorText(thrown))
    return null
  }
}

interface Decided {
  readonly alarm: StoredAlarm
  readonly timers: readonly Timer[]
  readonly verdict: Exclude<Verdict, { kind: 'look' }>
}

/** Reads and decides, writing nothing but the quarantine of what cannot be read or decided. */
function decide(desk: WriteContext, row: Values, request: ClaimRequest): Decided | null {
  try {
    if (row[ALARM_AT] === null) throw new CorruptRow('its alarm is gone')
    const alarm = withCalendars(desk.session, alarmOf(row, ALARM_AT))
    const timer = timerOf(row)
    const open = row[OTHERS_AT] === 0 ? 0 : openCount(desk.session, alarm)
    const found: DueTimer = { alarm, timer, others: null, openCount: open }
    const verdict = request.triage(found)
    if (verdict.kind !== 'look') return { alarm, timers: [timer], verdict }
    const timers = timersOf(desk.session, alarm)
    const again = request.triage({ ...found, others: timers })
    if (again.kind === 'look') throw new CorruptRow('no decision could be made about it')
    return { alarm, timers, verdict: again }
  } catch (thrown) {
    if (isStoreTrouble(thrown)) throw thrown
    quarantine(desk, row, errorText(thrown))
    return null
  }
}

function openCount(session: Session, alarm: StoredAlarm): number {
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

function fly(
  desk: WriteContext,
  lease: Lease,
  ready: readonly Ready[],
  request: ClaimRequest,
): ClaimedTimer[] {
  if (ready.length === 0) return []
  const flat: Serial[] = []
  for (const { timer } of ready) flat.push(timer.id, timer.version)
  const { lastInsertRowid: id } = desk.session.run(
    sql.insertFlight,
    lease.shard,
    lease.epoch,
    request.context.now,
    JSON.stringify(flat),
  )
  const batch = { id, shard: lease.shard }
  return ready.map(({ alarm, timer }) => ({ lease, batch, alarm, timer }))
}

/** Writes outcomes: void for a lost lease (promise: fenced), skipped for a timer that has moved on. */
export function settleAll(
  desk: WriteContext,
  settlements: readonly Settlement[],
  landed: readonly InFlightBatch[],
): SettleResult {
  const leases = new Set(settlements.map(({ lease }) => lease))
  const lost = [...leases].filter((lease) => !isOwn(desk.session, lease))
  const own = settlements.filter(({ lease }) => !lost.includes(lease))
  const stale = own.filter((settlement) => !settleApart(desk, settlement)).length
  for (const flight of landed) desk.session.run(sql.removeFlight, flight.id)
  return { lost, stale }
}

/** One that cannot be written is set aside and holds nobody up. Answers whether the timer was still the one taken. */
function settleApart(desk: WriteContext, settlement: Settlement): boolean {
  const { session } = desk
  if (!session.savepoints) return session.undoable(() => settleOne(desk, settlement))
  const row = session.value(sql.timerById, settlement.timer.id)
  return row !== undefined && apart(desk, row, (inner) => settleOne(inner, settlement)) !== false
}

/** Answers whether the timer was still the one that was delivered. */
function settleOne(desk: WriteContext, { alarm: taken, timer, delivery }: Settlement): boolean {
  // Its calendars may have been edited during the delivery.
  const alarm = withCalendars(desk.session, taken)
  const change = settle({ alarm, timer, others: null }, delivery, desk.context)
  if (change !== null && applyTaken(desk, alarm as StoredAlarm, timer, change)) return true
  return settleLooking(desk, timer, delivery)
}

/** The slow way: something changed during the delivery, or the decision needs the alarm's other timers. */
function settleLooking(desk: WriteContext, taken: Timer, delivery: DeliveryOutcome): boolean {
  const row = desk.session.value(sql.timerById, taken.id)
  if (row === undefined || row[VERSION] !== taken.version) return false
  const alarm = alarmAt(desk.session, alarmSeqOf(row))
  if (alarm === undefined) return false
  const others = timersOf(desk.session, alarm)
  const change = settle({ alarm, timer: timerOf(row), others }, delivery, desk.context)
  if (change === null) return true
  apply(desk, alarm, others, change)
  // Its target may have changed during the delivery: what is left of it follows now.
  retarget(desk, alarm)
  return true
}

/** Puts back what waits in these shards, so many at most; answers how many. */
export function releaseWaiting(
  session: Session,
  leases: readonly Lease[],
  which: WaitingFilter,
  now: number,
  limit: number,
): number {
  const [query, name] = releaseQuery(which)
  let released = 0
  for (const { shard } of leases) released += session.run(query, shard, name, now, limit - released).changes
  return released
}

function releaseQuery(which: WaitingFilter): readonly [query: string, name: string] {
  if ('handler' in which) return [sql.releaseUnhandled, which.handler]
  if ('heldTenant' in which) return [sql.releaseHeldTenant, which.heldTenant]
  return [sql.releaseHeldTarget, which.heldTarget]
}

/** The names of the targets of what is held. */
export function heldTargets(session: Session, leases: readonly Lease[], limit: number): string[] {
  const names = new Set<string>()
  for (const { shard } of leases) {
    let last: string | undefined = ''
    while (last !== undefined && names.size < limit) {
      last = session.get<{ target: string }>(sql.nextHeldTarget, shard, last)?.target
      if (last !== undefined) names.add(last)
    }
  }
  return [...names]
}

/** Counts what a former owner may have delivered as an attempt, so that a deadly handler ends some day. */
export function recoverFlights(desk: WriteContext, shard: number): number {
  const flights = desk.session.all<FlightRow>(sql.allFlights).filter((row) => row.shard === shard)
  let recovered = 0
  for (const flight of flights) {
    for (const [id, version] of flightTimers(flight)) {
      const row = desk.session.value(sql.timerById, id)
      if (row === undefined || row[VERSION] !== version) continue
      recovered += 1
      apart(desk, row, (inner) => settleLooking(inner, timerOf(row), { kind: 'lost' }))
    }
    desk.session.run(sql.removeFlight, flight.id)
  }
  return recovered
}
