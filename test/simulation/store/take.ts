import type { Timer, Verdict } from '../../../src/alarm/index.ts'
import { WakefulError } from '../../../src/error.ts'
import type { HeldTimers, Lease, StoredAlarm, Taken, TakeRequest, Taking } from '../../../src/stores/index.ts'
import { apply } from '../../../src/stores/postgres/apply.ts'
import type { SimulatedDatabase } from './database.ts'
import type { Desk } from './desk.ts'
import { alarmAt, timersOf } from './snapshots.ts'
import type { TimerRow } from './tables.ts'

/** How soon to look again at what an open transaction has. */
const LOCKED_WAIT_MS = 50

/** Looks without a lock: what was lost, and when the first wakes that is not held. Mostly nothing is due. */
export function look(database: SimulatedDatabase, leases: readonly Lease[], request: TakeRequest): Taken {
  const lost = leases.filter((lease) => !isTakers(database, lease))
  return {
    takings: [],
    lost,
    more: false,
    nextWakeAt: nextWakeAt(database, leases, request.held, request.avoid),
  }
}

/** Takes what is due in these shards, in one transaction with the record of what is now in flight. */
export function take(desk: Desk, leases: readonly Lease[], request: TakeRequest): Taken {
  const { database } = desk
  const lost = leases.filter((lease) => !isTakers(database, lease))
  const own = leases.filter((lease) => !lost.includes(lease))
  const { ready, more, waits } = gather(desk, own, request)
  // Priority orders what is due together.
  ready.sort((a, b) => b.alarm.priority - a.alarm.priority)
  const takings = fly(database, own, ready)
  const taken = new Map(ready.map(({ timer }) => [timer.id, timer.version]))
  const held = {
    size: request.held.size + taken.size,
    has: (id: number, version: number) => taken.get(id) === version || request.held.has(id, version),
  }
  const { now } = request.context
  const next = nextWakeAt(database, own, held, request.avoid)
  // What is locked is due, and cannot be had now.
  const again = waits && next !== null && next <= now ? now + LOCKED_WAIT_MS : next
  return { takings, lost, more, nextWakeAt: more ? now : again }
}

/** A shard that was given back is nobody's to take from, though its epoch is still the same. */
function isTakers(database: SimulatedDatabase, lease: Lease): boolean {
  return database.isOwn(lease) && database.shard(lease.shard, lease.pool).owner === lease.owner
}

/** The earliest wake in these shards that is not held, of tenants that are not to be avoided. */
export function nextWakeAt(
  { tables }: SimulatedDatabase,
  leases: readonly Lease[],
  held: HeldTimers,
  avoid?: ReadonlySet<string>,
): number | null {
  let earliest: number | null = null
  for (const { shard } of leases) {
    for (const { at, key } of tables.due.in(shard)) {
      if (earliest !== null && at >= earliest) break
      const row = tables.timers.get(key)!
      if (held.has(key, row.timer.version) || avoid?.has(row.tenant)) continue
      earliest = at
      break
    }
  }
  return earliest
}

interface Ready {
  readonly alarm: StoredAlarm
  readonly timer: Timer
}

interface Gathered {
  readonly ready: Ready[]
  /** Whether more was due than there was room for, or time. */
  readonly more: boolean
  /** Whether something is due that an open transaction has. */
  readonly waits: boolean
}

/** Decides about what is due, the most overdue first, until there is as much to deliver as there are hands. */
function gather(desk: Desk, leases: readonly Lease[], request: TakeRequest): Gathered {
  const { database } = desk
  const ready: Ready[] = []
  let [looked, waits] = [0, false]
  for (const { timer, alarm } of due(database, leases, request)) {
    const row = database.tables.timers.get(timer.id)
    // What another timer of the same alarm came to may have moved it.
    if (row?.timer.version !== timer.version) continue
    if (database.isHeld('alarms', alarm) || database.isHeld('timers', timer.id)) {
      waits = true
      continue
    }
    if (ready.length >= request.limit || (looked > 0 && request.isLong())) return { ready, more: true, waits }
    looked += 1
    const fired = decide(desk, row, request)
    if (fired !== null) ready.push(fired)
  }
  return { ready, more: false, waits }
}

function due({ tables }: SimulatedDatabase, leases: readonly Lease[], request: TakeRequest): TimerRow[] {
  const { held, avoid, context } = request
  const rows: TimerRow[] = []
  for (const { shard } of leases) {
    const places = tables.due.in(shard).slice(0, tables.due.upTo(shard, context.now))
    for (const { key } of places) {
      const row = tables.timers.get(key)!
      if (!held.has(key, row.timer.version) && !avoid?.has(row.tenant)) rows.push(row)
    }
  }
  return rows.sort((a, b) => a.timer.wakeAt! - b.timer.wakeAt! || a.timer.id - b.timer.id)
}

/** Decides about one, and writes what needs no delivery; answers what is to be delivered. */
function decide(desk: Desk, row: TimerRow, request: TakeRequest): Ready | null {
  const { database, writes, context } = desk
  const alarm = alarmAt(database, row.alarm)!
  const timers = timersOf(database, row.alarm)
  const isOpen = ({ kind, generation }: Timer) => kind !== 'due' && generation === alarm.generation
  const found = { alarm, timer: row.timer, others: null, openCount: timers.filter(isOpen).length }
  let verdict: Verdict = request.triage(found)
  if (verdict.kind === 'look') verdict = request.triage({ ...found, others: timers })
  if (verdict.kind === 'look') throw new WakefulError('internal', 'no decision could be made about it')
  if (verdict.change !== undefined) apply(writes, alarm, timers, verdict.change, context)
  return verdict.kind === 'fire' ? { alarm, timer: verdict.timer } : null
}

/** Records the batch as in flight, one row per shard. */
function fly(database: SimulatedDatabase, leases: readonly Lease[], ready: readonly Ready[]): Taking[] {
  const flights = new Map<number, Pick<Taking, 'lease' | 'flight'>>()
  for (const [shard, flying] of Map.groupBy(ready, ({ timer }) => timer.shard)) {
    const lease = leases.find((each) => each.shard === shard)!
    const id = database.next('flights')
    const timers = flying.map(({ timer }) => [timer.id, timer.version] as const)
    database.tables.flights.put(id, { shard, epoch: lease.epoch, timers })
    flights.set(shard, { lease, flight: { id, shard } })
  }
  return ready.map(({ alarm, timer }) => ({ ...flights.get(timer.shard)!, alarm, timer }))
}
