import {
  bySerial,
  type Change,
  type Context,
  type DeliveryOutcome,
  type Serial,
  settle,
  type Timer,
} from '../../../alarm/index.ts'
import {
  alarmSeqOf,
  apply,
  applyRest,
  type InFlightBatch,
  type Lease,
  type Settlement,
  type SettleResult,
  type StoredAlarm,
  TIMER_COLUMNS,
  timerOf,
  timerValues,
  type Values,
} from '../../index.ts'
import { columns, properties } from '../connection/index.ts'
import {
  batchTimers,
  inFlightIn,
  inSavepoint,
  readSnapshots,
  type WriteBatch,
  withCalendars,
} from '../rows/index.ts'
import * as sql from '../sql/index.ts'

const VERSION = TIMER_COLUMNS.indexOf('version')

/** Outcomes to write, with the in-flight batches that end with them. */
export interface Outcomes {
  readonly settlements: readonly Settlement[]
  readonly batches: readonly InFlightBatch[]
  readonly context: Context
}

/**
 * Thrown when a lease was lost after the outcomes were written: the transaction is rolled back and run again without
 * it.
 */
export class LostLeases extends Error {
  override readonly name = 'LostLeases'
  readonly leases: readonly Lease[]

  constructor(leases: readonly Lease[]) {
    super('leases were lost')
    this.leases = leases
  }
}

/**
 * Writes outcomes in one transaction: void for a lost lease (promise: fenced), skipped for a timer that has moved on.
 * An error that is not the store's means that one outcome cannot be written: the caller then writes them one by one.
 */
export async function settleTogether(
  batch: WriteBatch,
  outcomes: Outcomes,
  lost: readonly Lease[] = [],
): Promise<SettleResult> {
  const { settlements, batches, context } = outcomes
  const own = await withNewestCalendars(
    batch,
    settlements.filter(({ lease }) => !lost.includes(lease)),
  )
  const decided = own.map((settlement) => decide(settlement, context))
  // In one round trip: a lost lease is rare. The shards are locked before the first row is written.
  const [lostSince, written] = await Promise.all([lostLeases(batch, own), writeClaimed(batch, decided)])
  if (lostSince.length > 0) throw new LostLeases([...lost, ...lostSince])
  const slow: Delivered[] = []
  for (const { settlement, change } of decided) {
    const { alarm, timer, delivery } = settlement
    // Once per timer: a batch may have an outcome twice, or together with that of the next attempt.
    if (change !== null && written.get(timer.id) === timer.version && written.delete(timer.id))
      applyRest(batch, alarm as StoredAlarm, change, context)
    else slow.push({ id: timer.id, version: timer.version, delivery })
  }
  const stale = await settleWithOthers(batch, slow, context)
  removeSettledBatches(batch, batches)
  return { lost, stale }
}

/** Calendars may have been edited during the delivery. */
async function withNewestCalendars(
  batch: WriteBatch,
  settlements: readonly Settlement[],
): Promise<Settlement[]> {
  const alarms = await withCalendars(
    batch.session,
    settlements.map(({ alarm }) => alarm),
  )
  return settlements.map((settlement, index) => ({ ...settlement, alarm: alarms[index]! }))
}

/** Writes outcomes one by one, so that one that cannot be written is quarantined and the rest go on. */
export async function settleOneByOne(batch: WriteBatch, outcomes: Outcomes): Promise<SettleResult> {
  const { settlements, batches, context } = outcomes
  const lost = await lostLeases(batch, settlements)
  let stale = 0
  for (const { lease, timer, delivery } of settlements) {
    if (lost.includes(lease)) continue
    const row = await batch.session.row(sql.timersById, [timer.id])
    if (row === undefined || row[VERSION] !== timer.version) stale += 1
    else await settleInSavepoint(batch, row, delivery, context)
  }
  removeSettledBatches(batch, batches)
  return { lost, stale }
}

function removeSettledBatches({ session }: WriteBatch, batches: readonly InFlightBatch[]): void {
  if (batches.length > 0) session.send(sql.removeInFlightBatches, ...properties(batches, 'id'))
}

/** Writes the outcome of one timer in a savepoint; if that fails, it is rolled back and the row is quarantined. */
async function settleInSavepoint(
  batch: WriteBatch,
  row: Values,
  delivery: DeliveryOutcome,
  context: Context,
): Promise<void> {
  await inSavepoint(batch, [row], context, async () => {
    const { id, version } = timerOf(row)
    await settleWithOthers(batch, [{ id, version, delivery }], context)
  })
}

/** Locks the shards of these outcomes; returns the leases that are lost. */
async function lostLeases(batch: WriteBatch, settlements: readonly Settlement[]): Promise<Lease[]> {
  const leases = [...new Set(settlements.map(({ lease }) => lease))]
  if (leases.length === 0) return []
  const unique = [...new Map(leases.map((lease) => [`${lease.shard}:${lease.epoch}`, lease])).values()]
  const rows = await batch.session.rows(sql.shareShards, ...properties(unique, 'shard', 'epoch'))
  const own = new Map(rows.map(([shard, epoch]) => [shard, epoch]))
  return leases.filter(({ shard, epoch }) => own.get(shard) !== epoch)
}

interface Decided {
  readonly settlement: Settlement
  /** Null where the alarm's other timers are needed. */
  readonly change: Change | null
}

function decide(settlement: Settlement, context: Context): Decided {
  const { alarm, timer, delivery } = settlement
  return { settlement, change: settle({ alarm, timer, others: null }, delivery, context) }
}

/** Moves or removes the timers that are still at the version that was claimed; returns the versions. */
async function writeClaimed(batch: WriteBatch, decided: readonly Decided[]): Promise<Map<Serial, number>> {
  const removed: [Serial, number][] = []
  const moved: (readonly (string | Serial | null)[])[] = []
  const byId = [...decided].sort((a, b) => bySerial(a.settlement.timer.id, b.settlement.timer.id))
  for (const { settlement, change } of byId) {
    const { timer } = settlement
    const move = change?.update?.find(({ id }) => id === timer.id)
    if (move !== undefined) {
      const { wakeAt = timer.wakeAt } = move
      batch.recordWake(timer.shard, wakeAt)
      moved.push([timer.id, timer.version, ...timerValues(timer, move)])
    } else if (change?.remove?.includes(timer.id)) removed.push([timer.id, timer.version])
  }
  const [gone, gone2] = await Promise.all([
    removed.length === 0 ? [] : batch.session.rows(sql.removeClaimedTimers, ...columns(removed)),
    moved.length === 0 ? [] : batch.session.rows(sql.moveClaimedTimers, ...columns(moved)),
  ])
  return new Map([...gone, ...gone2].map(([id, version]) => [id as Serial, version as number]))
}

/** The outcome of one timer. */
export interface Delivered {
  readonly id: Serial
  readonly version: number
  readonly delivery: DeliveryOutcome
}

/**
 * The slow path: the alarm changed during the delivery, or the decision needs its other timers. They are locked, so
 * that two occurrences that end together do not each see the other as open. Returns the number of stale outcomes.
 */
async function settleWithOthers(
  batch: WriteBatch,
  delivered: readonly Delivered[],
  context: Context,
): Promise<number> {
  const { session } = batch
  let stale = 0
  let left = delivered
  while (left.length > 0) {
    // The statements below must see what was collected before.
    await batch.flush()
    const rows = await session.rows(
      sql.timersById,
      left.map(({ id }) => id),
    )
    const alarmOf = new Map(rows.map((row) => [row[0] as Serial, alarmSeqOf(row)]))
    const seqs = [...new Set(alarmOf.values())].sort(bySerial)
    const [, { found }] = await Promise.all([
      session.rows(sql.lockTimersOfAlarms, seqs),
      readSnapshots(session, seqs),
    ])
    const met = new Set<Serial>()
    const later: Delivered[] = []
    for (const each of left) {
      const seq = alarmOf.get(each.id)
      const snapshot = seq === undefined ? undefined : found.get(seq)
      const timer = snapshot?.timers.find(({ id, version }) => id === each.id && version === each.version)
      if (snapshot === undefined || timer === undefined) stale += 1
      else if (met.has(snapshot.alarm.seq)) later.push(each)
      else {
        met.add(snapshot.alarm.seq)
        settleLocked(batch, snapshot.alarm, timer, snapshot.timers, each.delivery, context)
      }
    }
    left = later
  }
  return stale
}

function settleLocked(
  batch: WriteBatch,
  alarm: StoredAlarm,
  timer: Timer,
  others: readonly Timer[],
  delivery: DeliveryOutcome,
  context: Context,
): void {
  const change = settle({ alarm, timer, others }, delivery, context)
  if (change === null) return
  apply(batch, alarm, others, change, context)
  // If the target changed during the delivery, the remaining timers move to its shard now.
  if (timer.edited) batch.retarget(alarm, others)
}

/**
 * Counts what a former holder may have delivered as an attempt, so that a handler that kills its process is not
 * retried for ever.
 */
export async function recoverInFlight(
  batch: WriteBatch,
  shards: readonly number[],
  context: Context,
): Promise<void> {
  if (shards.length === 0) return
  const rows = await batch.session.rows(sql.inFlightBatchesOfShards, shards)
  if (rows.length === 0) return
  const inFlight = inFlightIn(rows)
  const ids = new Set(rows.flatMap(([, text]) => batchTimers(text as string)).map(([id]) => id))
  for (const row of await batch.session.rows(sql.timersById, [...ids])) {
    // One by one: a row that cannot be written must not block the takeover of its shard.
    if (inFlight.has(timerOf(row))) await settleInSavepoint(batch, row, { kind: 'lost' }, context)
  }
  batch.session.send(
    sql.removeInFlightBatches,
    rows.map(([id]) => id as Serial),
  )
}
