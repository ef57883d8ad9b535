import { type DeliveryOutcome, settle, type Timer } from '../../../alarm/index.ts'
import {
  alarmSeqOf,
  apply,
  type InFlightBatch,
  type Lease,
  type Settlement,
  type SettleResult,
  type StoredAlarm,
  TIMER_COLUMNS,
  timerOf,
} from '../../index.ts'
import type { Session } from '../connection/index.ts'
import {
  alarmAt,
  applyClaimed,
  batchTimers,
  type InFlightBatchRow,
  type RowWrites,
  runOrQuarantine,
  timersOf,
  withCalendars,
} from '../rows/index.ts'
import * as sql from '../sql/index.ts'

const VERSION = TIMER_COLUMNS.indexOf('version')

/** Whether the lease is still the newest of its shard. */
export function holdsShard(session: Session, lease: Pick<Lease, 'shard' | 'epoch'>): boolean {
  return session.get<{ epoch: number }>(sql.shardEpoch, lease.shard)?.epoch === lease.epoch
}

/** Writes outcomes. Those of a lost lease are rejected (promise: fenced); those of a timer that has changed are skipped. */
export function settleAll(
  write: RowWrites,
  settlements: readonly Settlement[],
  acknowledged: readonly InFlightBatch[],
): SettleResult {
  const leases = new Set(settlements.map(({ lease }) => lease))
  const lost = [...leases].filter((lease) => !holdsShard(write.session, lease))
  const own = settlements.filter(({ lease }) => !lost.includes(lease))
  const stale = own.filter((settlement) => !settleIsolated(write, settlement)).length
  for (const { id } of acknowledged) write.session.run(sql.removeInFlightBatch, id)
  return { lost, stale }
}

/** Settles one timer, and quarantines it if that fails. Returns whether it was still as it was claimed. */
function settleIsolated(write: RowWrites, settlement: Settlement): boolean {
  const { session } = write
  if (!session.savepoints) return session.undoable(() => settleOne(write, settlement))
  const row = session.value(sql.timerById, settlement.timer.id)
  return row !== undefined && runOrQuarantine(write, row, (inner) => settleOne(inner, settlement)) !== false
}

/** Returns whether the timer was still as it was claimed. */
function settleOne(write: RowWrites, { alarm: claimed, timer, delivery }: Settlement): boolean {
  // Its calendars may have been edited during the delivery.
  const alarm = withCalendars(write.session, claimed)
  const change = settle({ alarm, timer, others: null }, delivery, write.context)
  if (change !== null && applyClaimed(write, alarm as StoredAlarm, timer, change)) return true
  return settleWithAllTimers(write, timer, delivery)
}

/** The slow way, for when something changed during the delivery or the decision needs the alarm's other timers. */
function settleWithAllTimers(write: RowWrites, claimed: Timer, delivery: DeliveryOutcome): boolean {
  const row = write.session.value(sql.timerById, claimed.id)
  if (row === undefined || row[VERSION] !== claimed.version) return false
  const alarm = alarmAt(write.session, alarmSeqOf(row))
  if (alarm === undefined) return false
  const others = timersOf(write.session, alarm)
  const change = settle({ alarm, timer: timerOf(row), others }, delivery, write.context)
  if (change === null) return true
  apply(write, alarm, others, change, write.context)
  // Its target may have changed during the delivery; its remaining timers move now.
  write.retarget(alarm)
  return true
}

/** Counts what the previous lease holder may have delivered as an attempt, so that a handler that crashes its process runs out of attempts. */
export function recoverInFlight(write: RowWrites, shard: number): void {
  const batches = write.session
    .all<InFlightBatchRow>(sql.inFlightBatches)
    .filter((row) => row.shard === shard)
  for (const batch of batches) {
    for (const [id, version] of batchTimers(batch)) {
      const row = write.session.value(sql.timerById, id)
      if (row === undefined || row[VERSION] !== version) continue
      runOrQuarantine(write, row, (inner) => settleWithAllTimers(inner, timerOf(row), { kind: 'lost' }))
    }
    write.session.run(sql.removeInFlightBatch, batch.id)
  }
}
