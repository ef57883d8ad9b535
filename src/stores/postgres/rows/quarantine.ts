import type { Context, Serial } from '../../../alarm/index.ts'
import { TIMER_COLUMNS, type Values } from '../../index.ts'
import * as sql from '../sql/index.ts'
import type { WriteBatch } from './write-batch.ts'

/** A row that cannot be read or decided, and why. */
export interface Damaged {
  readonly row: Values
  readonly reason: string
}

/** Ends alarms whose rows cannot be read as `failed` with the reason, so that the rest go on. */
export async function quarantine(
  batch: WriteBatch,
  damaged: readonly Damaged[],
  context: Context,
): Promise<void> {
  if (damaged.length === 0) return
  const seqs = damaged.map(({ row }) => of(row, 'alarm'))
  const scopes = new Map(
    (await batch.session.rows(sql.alarmScopes, seqs)).map((row) => [row[0] as Serial, row as ScopeValues]),
  )
  for (const { row, reason } of damaged) {
    const seq = of(row, 'alarm')
    batch.writes.removeTimer(of(row, 'id'))
    const scope = scopes.get(seq)
    // An alarm ends once, however many of its timers are damaged.
    scopes.delete(seq)
    if (scope !== undefined) fail(batch, row, scope, reason, context)
  }
}

type ScopeValues = [Serial, string, string, string, string]

function fail(batch: WriteBatch, row: Values, scope: ScopeValues, reason: string, context: Context): void {
  const { writes } = batch
  const [seq, tenant, owner, target, kind] = scope
  const attempt = of(row, 'attempt')
  const error = `quarantined: ${reason}`
  writes.removeTimersOf(seq)
  writes.putOutcome(
    { seq, tenant, owner, target: { name: target } },
    {
      status: 'failed',
      startedAt: null,
      lastFiredAt: null,
      completedAt: context.now,
      durationMs: null,
      result: `FAILED: ${error} (after ${attempt} attempts)`,
      lastError: error,
      failureCount: attempt,
      attempts: attempt,
    },
  )
  const occurrence = `${of(row, 'generation')}-${of(row, 'scheduled_for')}`
  const names = [context.newId(), tenant, owner, 'alarm.failed', 'caused', seq, occurrence, null, null]
  writes.addEventRow([...names, context.now, JSON.stringify({ error, attempts: attempt })])
  const isAwaiting = kind === 'once' && row[TIMER_COLUMNS.indexOf('kind')] === 'report'
  writes.tallies.add(
    { tenant, owner },
    { from: isAwaiting ? 'fired' : 'pending', to: 'failed', durationMs: null },
  )
}

function of(row: Values, column: (typeof TIMER_COLUMNS)[number]): number {
  return row[TIMER_COLUMNS.indexOf(column)] as number
}
