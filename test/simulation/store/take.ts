import { bySerial, type Serial, type Timer, type Verdict } from '../../../src/alarm/index.ts'
import { WakefulError } from '../../../src/error.ts'
import {
  type ClaimedTimer,
  type ClaimRequest,
  type InFlightTimers,
  type Lease,
  ownerKey,
  type StoredAlarm,
} from '../../../src/stores/index.ts'
import { apply } from '../../../src/stores/postgres/rows/apply.ts'
import { lowerTo, type Position } from '../../../src/stores/sharded/next-wake-cache.ts'
import type { SimulatedDatabase } from './database.ts'
import type { Desk } from './desk.ts'
import { alarmAt, timersOf } from './snapshots.ts'
import type { TimerRow } from './tables.ts'

/** From where on a look begins, by shard: below it nothing waits. */
export interface Bounds {
  lowerBound(shard: number): Position
}

/** How soon to look again at what an open transaction has. */
const LOCKED_WAIT_MS = 50

/** What a first look at the shards tells. */
export interface Peek {
  /** The first that waits in each shard from the bound on; null where nothing does. */
  readonly firsts: ReadonlyMap<number, Position | null>
  /** Leases that turned out to be another's by now. */
  readonly lost: readonly Lease[]
}

/** Looks when each shard wakes next, from the bounds of a lookout on. Writes nothing. */
export function peek(database: SimulatedDatabase, leases: readonly Lease[], bounds: Bounds): Peek {
  const { due } = database.tables
  const own = leases.filter((lease) => database.isHolder(lease))
  const firsts = new Map<number, Position | null>()
  for (const { shard } of own) {
    const first = due.in(shard)[fromBound(database, shard, bounds)]
    firsts.set(shard, first === undefined ? null : { wakeAt: first.at, id: first.key })
  }
  return { firsts, lost: leases.filter((lease) => !own.includes(lease)) }
}

/** What a take came to. */
export interface TakeResult {
  readonly takings: readonly ClaimedTimer[]
  readonly lost: readonly Lease[]
  readonly more: boolean
  /** When each shard is to be looked at next, where there is anything to look for. */
  readonly firsts: Map<number, number>
  /** Up to where each shard holds nothing any more but what is held, or taken now. */
  readonly passed: ReadonlyMap<number, Position>
}

/** Takes what is due in these shards, in one transaction with the record of what is now in flight. */
export function take(
  desk: Desk,
  leases: readonly Lease[],
  request: ClaimRequest,
  bounds: Bounds,
): TakeResult {
  const { database } = desk
  // Whoever is about to take over comes first: what is claimed beside it would not be recovered.
  for (const { shard } of leases) database.share('shards', shard)
  const lost = leases.filter((lease) => !database.isHolder(lease))
  const own = leases.filter((lease) => !lost.includes(lease))
  const found = due(database, own, request, bounds)
  const { ready, more, waits } = gather(desk, found, request)
  const taken = new Set(ready.map(({ timer }) => timer.id))
  const result = { lost, more, passed: passed(found, request.inFlight, taken) }
  // Priority orders what is due together.
  ready.sort((a, b) => b.alarm.priority - a.alarm.priority)
  const takings = fly(database, own, ready)
  return { ...result, takings, firsts: firstsAfter(desk, own, request, { more, waits }) }
}

function firstsAfter(
  { database, writes }: Desk,
  leases: readonly Lease[],
  { context: { now } }: ClaimRequest,
  { more, waits }: Pick<Gathered, 'more' | 'waits'>,
): Map<number, number> {
  const { due } = database.tables
  const firsts = new Map<number, number>()
  for (const { shard } of leases) {
    const next = due.in(shard)[due.upTo(shard, now)]
    if (next !== undefined) lowerTo(firsts, shard, next.at)
    // With more to take, the engine comes back at once; what is locked is due, and cannot be had now.
    if (more) lowerTo(firsts, shard, now)
    if (waits) lowerTo(firsts, shard, now + LOCKED_WAIT_MS)
    const written = writes.wakes.get(shard)
    if (written !== undefined) lowerTo(firsts, shard, written)
  }
  return firsts
}

/** Up to where everything that was found is held, or taken now. */
function passed(
  found: readonly TimerRow[],
  held: InFlightTimers,
  taken: ReadonlySet<Serial>,
): Map<number, Position> {
  const places = new Map<number, Position>()
  const stopped = new Set<number>()
  for (const { timer } of found) {
    const { id, shard, version, wakeAt } = timer
    if (stopped.has(shard)) continue
    if (taken.has(id) || held.has(id, version)) places.set(shard, { wakeAt: wakeAt!, id })
    else stopped.add(shard)
  }
  return places
}

/** The earliest wake in these shards that is not held, of tenants that are not to be avoided. */
export function nextWakeAt(
  { tables }: SimulatedDatabase,
  leases: readonly Lease[],
  held: InFlightTimers,
  request: Partial<Pick<ClaimRequest, 'avoid' | 'avoidOwners'>> = {},
): number | null {
  let earliest: number | null = null
  for (const { shard } of leases) {
    for (const { at, key } of tables.due.in(shard)) {
      if (earliest !== null && at >= earliest) break
      const row = tables.timers.get(key)!
      if (held.has(key, row.timer.version) || isAvoided(row, request)) continue
      earliest = at
      break
    }
  }
  return earliest
}

function isAvoided(
  row: TimerRow,
  { avoid, avoidOwners }: Partial<Pick<ClaimRequest, 'avoid' | 'avoidOwners'>>,
): boolean {
  return avoid?.has(row.tenant) === true || avoidOwners?.has(ownerKey(row)) === true
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
function gather(desk: Desk, found: readonly TimerRow[], request: ClaimRequest): Gathered {
  const { database } = desk
  const ready: Ready[] = []
  let [looked, waits, hasPassed] = [0, false, false]
  for (const each of found) {
    const { timer, alarm } = each
    if (request.inFlight.has(timer.id, timer.version) || isAvoided(each, request)) continue
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
    if (fired === 'passed') hasPassed = true
    else if (fired !== null) ready.push(fired)
  }
  return { ready, more: hasPassed, waits }
}

/** What is due in these shards from the bounds on, the most overdue first, also what is held. */
function due(
  database: SimulatedDatabase,
  leases: readonly Lease[],
  { context: { now } }: ClaimRequest,
  bounds: Bounds,
): TimerRow[] {
  const { tables } = database
  const rows = leases.flatMap(({ shard }) =>
    tables.due
      .in(shard)
      .slice(fromBound(database, shard, bounds), tables.due.upTo(shard, now))
      .map(({ key }) => tables.timers.get(key)!),
  )
  return rows.sort((a, b) => a.timer.wakeAt! - b.timer.wakeAt! || bySerial(a.timer.id, b.timer.id))
}

/** How many places of a shard lie before a look begins. */
function fromBound({ tables }: SimulatedDatabase, shard: number, bounds: Bounds): number {
  const { wakeAt, id } = bounds.lowerBound(shard)
  return tables.due.upTo(shard, wakeAt, id)
}

/** Decides about one, and writes what needs no delivery; answers what is to be delivered, or that it was passed. */
function decide(desk: Desk, row: TimerRow, request: ClaimRequest): Ready | 'passed' | null {
  const { database, writes, context } = desk
  const alarm = alarmAt(database, row.alarm)!
  const timers = timersOf(database, row.alarm)
  const isOpen = ({ kind, generation }: Timer) => kind !== 'due' && generation === alarm.generation
  const found = { alarm, timer: row.timer, others: null, openCount: timers.filter(isOpen).length }
  let verdict: Verdict = request.triage(found)
  if (verdict.kind === 'look') verdict = request.triage({ ...found, others: timers })
  if (verdict.kind === 'look') throw new WakefulError('internal', 'no decision could be made about it')
  if (verdict.change !== undefined) apply(writes, alarm, timers, verdict.change, context)
  if (verdict.kind === 'pass') return 'passed'
  return verdict.kind === 'fire' ? { alarm, timer: verdict.timer } : null
}

/** Records the batch as in flight, one row per shard. */
function fly(database: SimulatedDatabase, leases: readonly Lease[], ready: readonly Ready[]): ClaimedTimer[] {
  const flights = new Map<number, Pick<ClaimedTimer, 'lease' | 'batch'>>()
  for (const [shard, flying] of Map.groupBy(ready, ({ timer }) => timer.shard)) {
    const lease = leases.find((each) => each.shard === shard)!
    const id = database.next('flights')
    const timers = flying.map(({ timer }) => [timer.id, timer.version] as const)
    database.tables.flights.put(id, { shard, epoch: lease.epoch, timers })
    flights.set(shard, { lease, batch: { id, shard } })
  }
  return ready.map(({ alarm, timer }) => ({ ...flights.get(timer.shard)!, alarm, timer }))
}
