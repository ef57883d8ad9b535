import { bySerial, type Context, type Decision, type Serial, type Timer } from '../../../src/alarm/index.ts'
import {
  apply,
  type ClaimedTimer,
  type ClaimRequest,
  type Lease,
  ownerKey,
  type StoredAlarm,
} from '../../../src/stores/index.ts'
import { isLockTimeout } from '../../../src/stores/postgres/connection/errors.ts'
import type {
  ClaimResult,
  ClaimStatements,
  ClaimWork,
  FairScan,
  LowerBounds,
  NextWakes,
  Peeked,
  ScannedTimer,
} from '../../../src/stores/sharded/index.ts'
import { type Connection, isBroken } from './connection.ts'
import type { SimulatedDatabase } from './database.ts'
import { alarmAt, timersOf } from './snapshots.ts'
import type { TimerRow } from './tables.ts'
import type { WriteBatch } from './write-batch.ts'

/** How long a claim waits for a shard that another transaction has locked. */
const LOCK_MS_MAX = 100

/** The locks a claim waits for: a takeover of the shard, and an edit of a timer near its due instant. */
const LOCKS = ['shards', 'shard_edits'] as const

/** The claim statements, in memory. */
export class SimulatedClaimStatements implements ClaimStatements {
  readonly isBroken = isBroken
  readonly #connection: Connection
  readonly #write: WriteClaim

  constructor(connection: Connection, write: WriteClaim) {
    this.#connection = connection
    this.#write = write
  }

  isLockTimeout(thrown: unknown): boolean {
    return isLockTimeout((thrown as Error).cause)
  }

  isStoreError(): boolean {
    return true
  }

  peek(leases: readonly Lease[], bounds: LowerBounds): Promise<readonly Peeked[]> {
    return this.#send('claim.peek', (database) =>
      leases
        .filter((lease) => database.isHolder(lease))
        .map(({ shard }) => ({ shard, next: timersFrom(database, shard, bounds, 1)[0] ?? null })),
    )
  }

  nextTimers(
    shards: readonly number[],
    bounds: LowerBounds,
    count: number,
  ): Promise<readonly ScannedTimer[]> {
    return this.#send('claim.next_timers', (database) =>
      shards.flatMap((shard) => timersFrom(database, shard, bounds, count)),
    )
  }

  fairScan(leases: readonly Lease[], request: ClaimRequest): Promise<FairScan> {
    return this.#send('claim.fair_scan', ({ tables }) => {
      const { limit, inFlight, context } = request
      const rows = leases
        .flatMap(({ shard }) => tables.due.in(shard).map(({ key }) => tables.timers.get(key)!))
        .filter((row) => !inFlight.has(row.timer.id, row.timer.version) && !isSkipped(row, request))
        .sort(byWake)
      const due = rows.filter(({ timer }) => timer.wakeAt! <= context.now)
      const more = due.length > limit
      return {
        due: due.slice(0, limit).map(({ timer: { id, shard } }) => ({ id, shard })),
        more,
        nextWakeAt: more ? context.now : (rows[due.length]?.timer.wakeAt ?? null),
      }
    })
  }

  claimDue(work: ClaimWork): Promise<ClaimResult> {
    const lockMsMax = work.passesOver ? undefined : LOCK_MS_MAX
    return this.#write(work.request.context, (batch) => claimDue(batch, work), lockMsMax)
  }

  #send<T>(name: string, run: (database: SimulatedDatabase) => T): Promise<T> {
    return this.#connection.send(name, () => run(this.#connection.database))
  }
}

/** Runs a claim in its own statement, with a limit on lock waits. */
export type WriteClaim = <T>(
  context: Context,
  work: (batch: WriteBatch) => T,
  lockMsMax: number | undefined,
) => Promise<T>

/** Claims due timers of these shards and records the batch as in flight, in one transaction. */
function claimDue(batch: WriteBatch, work: ClaimWork): ClaimResult {
  const { database } = batch
  const { leases, request, fair } = work
  // A takeover has precedence: what is claimed beside it would not be recovered.
  const isBusy = ({ shard }: Lease) =>
    work.passesOver && LOCKS.some((lock) => database.isLockedExclusively(lock, shard))
  const busy = leases.filter(isBusy)
  for (const lease of leases)
    if (!busy.includes(lease)) for (const lock of LOCKS) database.share(lock, lease.shard)
  const lost = leases.filter((lease) => !busy.includes(lease) && !database.isHolder(lease))
  const own = leases.filter((lease) => !lost.includes(lease) && !busy.includes(lease))
  if (work.knownBatches !== null) removeUnknown(database, own, work.knownBatches)
  const found = fair === null ? due(database, own, work) : stillDue(database, own, fair, request)
  const { ready, more, passedLocked } = gather(batch, found, request)
  // Priority orders timers that are due together.
  ready.sort((a, b) => b.alarm.priority - a.alarm.priority)
  const scanned = fair === null ? Map.groupBy(found.map(scannedTimer), ({ shard }) => shard) : new Map()
  return {
    timers: recordInFlight(database, own, ready),
    lost,
    busy,
    more: more || fair?.more === true,
    passedLocked,
    next: fair === null ? nextAfter(database, own, request.context.now) : new Map(),
    written: batch.writes.wakes,
    scanned,
  }
}

/** Removes batches in these shards that the process does not know: their claim was never answered. */
function removeUnknown(
  database: SimulatedDatabase,
  leases: readonly Lease[],
  known: readonly Serial[],
): void {
  const { inFlight, batchesOfShard } = database.tables
  for (const { key } of leases.flatMap(({ shard }) => [...batchesOfShard.in(shard)]))
    if (!known.includes(key)) inFlight.remove(key)
}

function nextAfter({ tables }: SimulatedDatabase, leases: readonly Lease[], now: number): NextWakes {
  return new Map(
    leases.flatMap(({ shard }) => {
      const next = tables.due.in(shard)[tables.due.upTo(shard, now)]
      return next === undefined ? [] : [[shard, next.at] as const]
    }),
  )
}

function isSkipped(
  row: TimerRow,
  { skipTenants, skipOwners }: Partial<Pick<ClaimRequest, 'skipTenants' | 'skipOwners'>>,
): boolean {
  return skipTenants?.has(row.tenant) === true || skipOwners?.has(ownerKey(row)) === true
}

interface Ready {
  readonly alarm: StoredAlarm
  readonly timer: Timer
}

interface Gathered {
  readonly ready: Ready[]
  /** Whether more was due than could be claimed. */
  readonly more: boolean
  /** Whether a due timer is locked by an open transaction. */
  readonly passedLocked: boolean
}

/** Decides about due timers, the most overdue first, until the slots are filled. */
function gather(batch: WriteBatch, found: readonly TimerRow[], request: ClaimRequest): Gathered {
  const { database } = batch
  const ready: Ready[] = []
  let [looked, passedLocked, hasLeftDue] = [0, false, false]
  for (const each of found) {
    const { timer, alarm } = each
    if (request.inFlight.has(timer.id, timer.version) || isSkipped(each, request)) continue
    const row = database.tables.timers.get(timer.id)
    // Another timer of the same alarm may have changed this one.
    if (row?.timer.version !== timer.version) continue
    if (database.isLocked('alarms', alarm) || database.isLocked('timers', timer.id)) {
      passedLocked = true
      continue
    }
    if (ready.length >= request.limit || (looked > 0 && request.isOverTime()))
      return { ready, more: true, passedLocked }
    looked += 1
    const fired = decide(batch, row, request)
    if (fired === 'left_due') hasLeftDue = true
    else if (fired !== null) ready.push(fired)
  }
  return { ready, more: hasLeftDue, passedLocked }
}

/** Due timers of these shards from their bounds on, the most overdue first, including those in flight. */
function due(database: SimulatedDatabase, leases: readonly Lease[], work: ClaimWork): TimerRow[] {
  const { tables } = database
  const rows = leases.flatMap(({ shard }) =>
    tables.due
      .in(shard)
      .slice(fromBound(database, shard, work.bounds), tables.due.upTo(shard, work.request.context.now))
      .map(({ key }) => tables.timers.get(key)!),
  )
  return rows.sort(byWake)
}

/** The timers found by a fair scan that are still due in these shards. */
function stillDue(
  { tables }: SimulatedDatabase,
  leases: readonly Lease[],
  fair: FairScan,
  { context }: ClaimRequest,
): TimerRow[] {
  const shards = new Set(leases.map(({ shard }) => shard))
  return fair.due
    .flatMap(({ id }) => tables.timers.get(id) ?? [])
    .filter(({ timer }) => shards.has(timer.shard) && (timer.wakeAt ?? Infinity) <= context.now)
}

function byWake(a: TimerRow, b: TimerRow): number {
  return a.timer.wakeAt! - b.timer.wakeAt! || bySerial(a.timer.id, b.timer.id)
}

function scannedTimer({ timer: { shard, id, version, wakeAt } }: TimerRow): ScannedTimer {
  return { shard, id, version, wakeAt: wakeAt! }
}

/** The first timers of a shard from its bound on. */
function timersFrom(
  database: SimulatedDatabase,
  shard: number,
  bounds: LowerBounds,
  count: number,
): ScannedTimer[] {
  const { due, timers } = database.tables
  const from = fromBound(database, shard, bounds)
  const places = due.in(shard).slice(from, from + count)
  return places.map(({ key }) => scannedTimer(timers.get(key)!))
}

/** How many timers of a shard a scan skips. */
function fromBound({ tables }: SimulatedDatabase, shard: number, bounds: LowerBounds): number {
  const { wakeAt, id } = bounds.lowerBound(shard)
  return tables.due.upTo(shard, wakeAt, id)
}

/** Decides about one timer and writes what needs no delivery. Returns the delivery, or that it was passed. */
function decide(batch: WriteBatch, row: TimerRow, request: ClaimRequest): Ready | 'left_due' | null {
  const { database, writes, context } = batch
  const alarm = alarmAt(database, row.alarm)!
  const timers = timersOf(database, row.alarm)
  const isOpen = ({ kind, generation }: Timer) => kind !== 'due' && generation === alarm.generation
  const found = { alarm, timer: row.timer, others: null, openCount: timers.filter(isOpen).length }
  let decision: Decision = request.triage(found)
  if (decision.kind === 'needs_timers') decision = request.triage({ ...found, others: timers })
  if (decision.kind === 'needs_timers') throw new Error('no decision could be made about it')
  if (decision.change !== undefined) apply(writes, alarm, timers, decision.change, context)
  if (decision.kind === 'leave_due') return 'left_due'
  return decision.kind === 'fire' ? { alarm, timer: decision.timer } : null
}

/** Records the batch as in flight, one row per shard. */
function recordInFlight(
  database: SimulatedDatabase,
  leases: readonly Lease[],
  ready: readonly Ready[],
): ClaimedTimer[] {
  const batches = new Map<number, Pick<ClaimedTimer, 'lease' | 'batch'>>()
  for (const [shard, group] of Map.groupBy(ready, ({ timer }) => timer.shard)) {
    const lease = leases.find((each) => each.shard === shard)!
    const id = database.next('inFlight')
    const timers = group.map(({ timer }) => [timer.id, timer.version] as const)
    database.tables.inFlight.put(id, { shard, epoch: lease.epoch, timers })
    batches.set(shard, { lease, batch: { id, shard } })
  }
  return ready.map(({ alarm, timer }) => ({ ...batches.get(timer.shard)!, alarm, timer }))
}
