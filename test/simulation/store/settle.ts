import { type DeliveryOutcome, settle, type Timer } from '../../../src/alarm/index.ts'
import type { InFlightBatch, Settlement, SettleResult } from '../../../src/stores/index.ts'
import { apply } from '../../../src/stores/postgres/rows/apply.ts'
import { snapshotAt } from './snapshots.ts'
import type { Desk } from './write-batch.ts'

/** Writes outcomes: void for a lost lease (promise: fenced), skipped for a timer that has moved on. */
export function settleAll(
  desk: Desk,
  settlements: readonly Settlement[],
  landed: readonly InFlightBatch[],
): SettleResult {
  const { database } = desk
  const leases = new Set(settlements.map(({ lease }) => lease))
  for (const { shard } of leases) database.share('shards', shard)
  const lost = [...leases].filter((lease) => !database.isOwn(lease))
  const own = settlements.filter(({ lease }) => !lost.includes(lease))
  const stale = own.filter(({ timer, delivery }) => !settleOne(desk, timer, delivery)).length
  for (const { id } of landed) database.tables.flights.remove(id)
  return { lost, stale }
}

/** Answers whether the timer was still the one that was delivered (promise: recorded-once). */
function settleOne(desk: Desk, taken: Pick<Timer, 'id' | 'version'>, delivery: DeliveryOutcome): boolean {
  const { database, writes, context } = desk
  const row = database.tables.timers.get(taken.id)
  if (row === undefined || row.timer.version !== taken.version) return false
  database.hold('alarms', row.alarm)
  const { alarm, timers: others } = snapshotAt(database, row.alarm)!
  const change = settle({ alarm, timer: row.timer, others }, delivery, context)
  if (change === null) return true
  apply(writes, alarm, others, change, context)
  // Its target may have changed during the delivery: what is left of it follows now.
  if (row.timer.edited) writes.retarget(alarm)
  return true
}

/** Counts what a former owner may have delivered as an attempt, so that a deadly handler ends some day (hazard 2). */
export function recoverFlights(desk: Desk, shards: readonly number[]): void {
  const { tables } = desk.database
  for (const { key } of shards.flatMap((shard) => [...tables.flightsOfShard.in(shard)])) {
    for (const [id, version] of tables.flights.get(key)!.timers)
      settleOne(desk, { id, version }, { kind: 'lost' })
    tables.flights.remove(key)
  }
}
