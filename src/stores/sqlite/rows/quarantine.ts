import type { Serial } from '../../../alarm/index.ts'
import { errorText } from '../../../error.ts'
import { alarmSeqOf, quarantineOf, Tallies, TIMER_COLUMNS, type Values } from '../../index.ts'
import { isStoreError } from '../connection/index.ts'
import * as sql from '../sql/index.ts'
import { RowWrites } from './row-writes.ts'

/** Ends an alarm whose row cannot be read as `failed`, with the reason, so that the rest of the batch continues. */
export function quarantine(write: RowWrites, row: Values, reason: string): void {
  const { session, context } = write
  const seq = alarmSeqOf(row)
  session.run(sql.removeTimer, row[TIMER_COLUMNS.indexOf('id')] as Serial)
  const alarm = session.get<{ tenant: string; owner: string; target: string; kind: string }>(
    sql.alarmScope,
    seq,
  )
  if (alarm === undefined) return
  const { tenant, owner, target } = alarm
  session.run(sql.removeTimersOfAlarm, tenant, owner, seq)
  const { outcome, event, tally } = quarantineOf({ ...alarm, seq }, row, reason, context)
  write.putOutcome({ seq, tenant, owner, target: { name: target } }, outcome)
  session.run(sql.insertEvent, ...event)
  write.tallies.add(alarm, tally)
}

/**
 * Runs the work of one row. If it fails, its writes are rolled back and the row is quarantined with the reason. Without
 * savepoints the whole transaction fails, and the write queue runs it again with them.
 */
export function runOrQuarantine<T>(write: RowWrites, row: Values, work: (write: RowWrites) => T): T | null {
  const { session } = write
  if (!session.savepoints) return session.undoable(() => work(write))
  const tallies = new Tallies()
  try {
    const answer = session.undoable(() => work(new RowWrites(session, write.context, write.shardOf, tallies)))
    write.tallies.merge(tallies)
    return answer
  } catch (thrown) {
    if (isStoreError(thrown)) throw thrown
    quarantine(write, row, errorText(thrown))
    return null
  }
}
