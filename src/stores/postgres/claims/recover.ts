import type { Context, Serial } from '../../../alarm/index.ts'
import { timerOf } from '../../index.ts'
import { batchTimers, inFlightIn, type WriteBatch } from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import { apart } from './settle.ts'

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
