import {
  bySerial,
  type Change,
  type Context,
  type DeliveryOutcome,
  type Serial,
  settle,
  type Timer,
} from '../../../alarm/index.ts'
import { errorText } from '../../../error.ts'
import {
  alarmSeqOf,
  type InFlightBatch,
  type Lease,
  type Settlement,
  type SettleResult,
  type StoredAlarm,
  TIMER_COLUMNS,
  timerOf,
  type Values,
} from '../../index.ts'
import { isStoreError } from '../connection/index.ts'
import {
  apply,
  applyRest,
  batchTimers,
  columns,
  inFlightIn,
  positionValues,
  quarantine,
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

/** Thrown where outcomes were written in the hope that all leases hold: they are undone, and written without these. */
export class LostLeases extends Error {
  override readonly name = 'LostLeases'
  readonly leases: readonly Lease[]

  constructor(leases: readonly Lease[]) {
    super('leases were lost')
    this.leases = leases
  }
}

/**
 * Writes outcomes all at once: void for a lost lease (promise: fenced), skipped for a timer that has moved on. A throw
 * that is not the store's trouble means that one of them cannot be written: the caller then goes one by one.
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
  // In one round trip: mostly no lease is lost. The shards are held before the first row is touched.
  const [lostSince, written] = await Promise.all([lostLeases(batch, own), writeClaimed(batch, decided)])
  if (lostSince.length > 0) throw new LostLeases([...lost, ...lostSince])
  const slow: Delivered[] = []
  for (const { settlement, change } of decided) {
    const { alarm, timer, delivery } = settlement
    // Once for each: an outcome may come twice in one batch, and beside that of the next attempt at the same timer.
    if (change !== null && written.get(timer.id) === timer.version && written.delete(timer.id))
      applyRest(batch.writes, alarm as StoredAlarm, change, context)
    else slow.push({ id: timer.id, version: timer.version, delivery })
  }
  const stale = await settleLooking(batch, slow, context)
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

/** Writes outcomes one by one, so that the one which cannot be written is set aside and holds nobody up. */
export async function settleApart(batch: WriteBatch, outcomes: Outcomes): Promise<SettleResult> {
  const { settlements, batches, context } = outcomes
  const lost = await lostLeases(batch, settlements)
  let stale = 0
  for (const { lease, timer, delivery } of settlements) {
    if (lost.includes(lease)) continue
    const row = await batch.session.row(sql.timersById, [timer.id])
    if (row === undefined || row[VERSION] !== timer.version) stale += 1
    else await apart(batch, row, delivery, context)
  }
  removeSettledBatches(batch, batches)
  return { lost, stale }
}

function removeSettledBatches(batch: WriteBatch, batches: readonly InFlightBatch[]): void {
  if (batches.length > 0)
    batch.session.send(
      sql.removeInFlightBatches,
      batches.map(({ id }) => id),
    )
}

/** Writes what came of one timer; when that fails, all of it is undone and the row is quarantined with the reason. */
async function apart(
  batch: WriteBatch,
  row: Values,
  delivery: DeliveryOutcome,
  context: Context,
): Promise<void> {
  const { session } = batch
  await session.plain('SAVEPOINT apart')
  try {
    const { id, version } = timerOf(row)
    await settleLooking(batch, [{ id, version, delivery }], context)
    await batch.flush()
    await session.acknowledged()
    batch.accept()
  } catch (failed) {
    const thrown = session.cause(failed)
    if (isStoreError(thrown)) throw thrown
    await session.rollbackTo('apart')
    batch.clear()
    await quarantine(batch, [{ row, reason: errorText(thrown) }], context)
    await batch.flush()
    await session.acknowledged()
  }
  await session.plain('RELEASE apart')
}

/** Takes hold of the shards these outcomes are under; answers the leases that are no longer theirs. */
async function lostLeases(batch: WriteBatch, settlements: readonly Settlement[]): Promise<Lease[]> {
  const leases = [...new Set(settlements.map(({ lease }) => lease))]
  if (leases.length === 0) return []
  const unique = [...new Map(leases.map((lease) => [`${lease.shard}:${lease.epoch}`, lease])).values()]
  const rows = await batch.session.rows(
    sql.shareShards,
    unique.map(({ shard }) => shard),
    unique.map(({ epoch }) => epoch),
  )
  const own = new Map(rows.map(([shard, epoch]) => [shard, epoch]))
  return leases.filter(({ shard, epoch }) => own.get(shard) !== epoch)
}

interface Decided {
  readonly settlement: Settlement
  /** Null where the alarm's other timers must be looked at first. */
  readonly change: Change | null
}

function decide(settlement: Settlement, context: Context): Decided {
  const { alarm, timer, delivery } = settlement
  return { settlement, change: settle({ alarm, timer, others: null }, delivery, context) }
}

/** Moves or removes the timers themselves, those that are still as they were taken; answers at which version each was. */
async function writeClaimed(batch: WriteBatch, decided: readonly Decided[]): Promise<Map<Serial, number>> {
  const removed: [Serial, number][] = []
  const moved: (readonly (string | Serial | null)[])[] = []
  const byId = [...decided].sort((a, b) => bySerial(a.settlement.timer.id, b.settlement.timer.id))
  for (const { settlement, change } of byId) {
    const { timer } = settlement
    const move = change?.move?.find(({ id }) => id === timer.id)
    if (move !== undefined) {
      const next = { ...timer, ...move }
      batch.writes.wake(next.shard, next.wakeAt)
      moved.push([timer.id, timer.version, ...positionValues(next)])
    } else if (change?.remove?.includes(timer.id)) removed.push([timer.id, timer.version])
  }
  const [gone, gone2] = await Promise.all([
    removed.length === 0 ? [] : batch.session.rows(sql.removeClaimedTimers, ...columns(removed)),
    moved.length === 0 ? [] : batch.session.rows(sql.moveClaimedTimers, ...columns(moved)),
  ])
  return new Map([...gone, ...gone2].map(([id, version]) => [id as Serial, version as number]))
}

/** What came of one timer. */
export interface Delivered {
  readonly id: Serial
  readonly version: number
  readonly delivery: DeliveryOutcome
}

/**
 * The slow way: something changed during the delivery, or the decision needs the alarm's other timers. Those are locked,
 * so that two that end together do not each take the other for still open. Answers how many had moved on.
 */
async function settleLooking(
  batch: WriteBatch,
  delivered: readonly Delivered[],
  context: Context,
): Promise<number> {
  const { session } = batch
  let stale = 0
  let left = delivered
  while (left.length > 0) {
    // What was gathered before must be seen; the statements below begin after it.
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
  apply(batch.writes, alarm, others, change, context)
  // Its target may have changed during the delivery: what is left of it follows now.
  if (timer.edited) batch.writes.retarget(alarm, others)
}

/** Counts what a former owner may have delivered as an attempt, so that a deadly handler ends some day (hazard 2). */
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
    // One by one: one that cannot be written must not keep the shard from being taken over.
    if (inFlight.has(timerOf(row))) await apart(batch, row, { kind: 'lost' }, context)
  }
  batch.session.send(
    sql.removeInFlightBatches,
    rows.map(([id]) => id as Serial),
  )
}
