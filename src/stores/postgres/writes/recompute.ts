import { bySerial, type Change, type Context, type Serial, type Snapshot } from '../../../alarm/index.ts'
import { apply, type RecomputeFilter, type RecomputeResult } from '../../index.ts'
import { isStoreError } from '../connection/index.ts'
import { lockSnapshots, type WriteBatch } from '../rows/index.ts'
import * as sql from '../sql/index.ts'

/** Computes the instants of live alarms again, a bounded number at a time. */
export async function recomputeSelected(
  batch: WriteBatch,
  which: RecomputeFilter,
  decide: (snapshot: Snapshot) => Change | null,
  context: Context,
): Promise<RecomputeResult> {
  const { session } = batch
  const rows =
    'calendarsOf' in which
      ? await session.rows(sql.calendarSelection, which.calendarsOf, which.after, which.limit)
      : await session.rows(sql.zonedSelection, which.after, which.limit)
  const seqs = [...new Set(rows.map(([, alarm]) => alarm as Serial))].sort(bySerial)
  const { found } = await lockSnapshots(session, seqs, batch.clockOverride)
  let changed = 0
  for (const snapshot of found.values()) {
    const change = snapshot.timers.length === 0 ? null : decided(snapshot, decide)
    if (change === null) continue
    apply(batch, snapshot.alarm, snapshot.timers, change, context)
    changed += 1
  }
  await batch.flush()
  return { changed, next: rows.length < which.limit ? null : (rows.at(-1)![0] as Serial) }
}

/** An alarm that cannot be decided is left to the claim, which quarantines it with the reason. */
function decided(snapshot: Snapshot, decide: (snapshot: Snapshot) => Change | null): Change | null {
  try {
    return decide(snapshot)
  } catch (thrown) {
    if (isStoreError(thrown)) throw thrown
    return null
  }
}
