import { errorText } from '../../../error.ts'
import { Tallies, TIMER_COLUMNS, type Values } from '../../index.ts'
import { isStoreError } from '../connection/index.ts'
import * as sql from '../sql/index.ts'
import type { WriteContext } from './apply.ts'

/** Ends an alarm whose row cannot be read as `failed`, with the reason, so that the rest of the batch continues. */
export function quarantine(write: WriteContext, row: Values, reason: string): void {
  const { session, context } = write
  const of = (column: (typeof TIMER_COLUMNS)[number]) => row[TIMER_COLUMNS.indexOf(column)] as number
  const seq = of('alarm')
  session.run(sql.removeTimer, of('id'))
  const alarm = session.get<{ tenant: string; owner: string; target: string; kind: string }>(
    sql.alarmScope,
    seq,
  )
  if (alarm === undefined) return
  const { tenant, owner, target } = alarm
  session.run(sql.removeTimersOfAlarm, tenant, owner, seq)
  const error = `quarantined: ${reason}`
  const result = `FAILED: ${error} (after ${of('attempt')} attempts)`
  const attempt = of('attempt')
  session.run(
    sql.putOutcome,
    seq,
    tenant,
    owner,
    target,
    'failed',
    null,
    null,
    context.now,
    null,
    result,
    error,
    attempt,
    attempt,
  )
  const data = JSON.stringify({ error, attempts: attempt })
  const occurrence = `${of('generation')}-${of('scheduled_for')}`
  session.run(
    sql.insertEvent,
    context.newId(),
    tenant,
    owner,
    'alarm.failed',
    'caused',
    seq,
    occurrence,
    null,
    null,
    context.now,
    data,
  )
  const isAwaiting = alarm.kind === 'once' && row[TIMER_COLUMNS.indexOf('kind')] === 'report'
  const from = isAwaiting ? 'fired' : 'pending'
  write.tallies.add({ tenant, owner }, { from, to: 'failed', durationMs: null })
}

/**
 * Runs the work of one row. If it fails, its writes are rolled back and the row is quarantined with the reason. Without
 * savepoints the whole transaction fails, and the write queue runs it again with them.
 */
export function isolated<T>(write: WriteContext, row: Values, work: (write: WriteContext) => T): T | null {
  const { session } = write
  if (!session.savepoints) return session.undoable(() => work(write))
  const tallies = new Tallies()
  try {
    const answer = session.undoable(() => work({ ...write, tallies }))
    write.tallies.merge(tallies)
    return answer
  } catch (thrown) {
    if (isStoreError(thrown)) throw thrown
    quarantine(write, row, errorText(thrown))
    return null
  }
}
