import { type DeliveryOutcome, settle, type Timer } from '../../../src/alarm/index.ts'
import { apply, type InFlightBatch, type Settlement, type SettleResult } from '../../../src/stores/index.ts'
import { snapshotAt } from './snapshots.ts'
import type { WriteBatch } from './write-batch.ts'

/**
 * Writes outcomes. Those under a lost lease are rejected (promise: fenced); those of timers that have changed are
 * skipped.
 */
export function settleAll(
  batch: WriteBatch,
  settlements: readonly Settlement[],
  acknowledged: readonly InFlightBatch[],
): SettleResult {
  const { database } = batch
  const leases = new Set(settlements.map(({ lease }) => lease))
  for (const { shard } of leases) database.share('shards', shard)
  const lost = [...leases].filter((lease) => !database.isOwn(lease))
  const own = settlements.filter(({ lease }) => !lost.includes(lease))
  const stale = own.filter(({ timer, delivery }) => !settleOne(batch, timer, delivery)).length
  for (const { id } of acknowledged) database.tables.inFlight.remove(id)
  return { lost, stale }
}

/** Returns whether the timer was still the one that was delivered (promise: recorded-once). */
function settleOne(
  batch: WriteBatch,
  claimed: Pick<Timer, 'id' | 'version'>,
  delivery: DeliveryOutcome,
): boolean {
  const { database, writes, context } = batch
  const row = database.tables.timers.get(claimed.id)
  if (row === undefined || row.timer.version !== claimed.version) return false
  database.lock('alarms', row.alarm)
  const { alarm, timers: others } = snapshotAt(database, row.alarm)!
  const change = settle({ alarm, timer: row.timer, others }, delivery, context)
  if (change === null) return true
  apply(writes, alarm, others, change, context)
  // Its target may have changed during the delivery. The remaining timers follow it now.
  if (row.timer.edited) writes.retarget(alarm)
  return true
}

/**
 * Counts what a former lease holder may have delivered as an attempt, so that a handler that kills its process fails
 * for good after its last attempt.
 */
export function recoverBatches(batch: WriteBatch, shards: readonly number[]): void {
  const { tables } = batch.database
  for (const { key } of shards.flatMap((shard) => [...tables.batchesOfShard.in(shard)])) {
    for (const [id, version] of tables.inFlight.get(key)!.timers)
      settleOne(batch, { id, version }, { kind: 'lost' })
    tables.inFlight.remove(key)
  }
}
