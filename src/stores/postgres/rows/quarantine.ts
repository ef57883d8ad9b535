import type { Context, Serial } from '../../../alarm/index.ts'
import { errorText } from '../../../error.ts'
import { alarmSeqOf, quarantineOf, TIMER_COLUMNS, type Values } from '../../index.ts'
import { isStoreError } from '../connection/index.ts'
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
  const seqs = damaged.map(({ row }) => alarmSeqOf(row))
  const scopes = new Map(
    (await batch.session.rows(sql.alarmScopes, seqs)).map((row) => [row[0] as Serial, row as ScopeValues]),
  )
  for (const { row, reason } of damaged) {
    const seq = alarmSeqOf(row)
    batch.removeTimer(row[TIMER_COLUMNS.indexOf('id')] as Serial)
    const scope = scopes.get(seq)
    // An alarm ends once, however many of its timers are damaged.
    scopes.delete(seq)
    if (scope !== undefined) fail(batch, row, scope, reason, context)
  }
}

/** Runs work in a savepoint. If it cannot be written, only it is rolled back, and its rows are quarantined: null. */
export async function inSavepoint<T>(
  batch: WriteBatch,
  rows: readonly Values[],
  context: Context,
  work: () => Promise<T>,
): Promise<T | null> {
  const { session } = batch
  let done: T | null = null
  await session.plain('SAVEPOINT one_by_one')
  try {
    done = await work()
    await batch.flush()
    await session.acknowledged()
    batch.keepTallies()
  } catch (failed) {
    const thrown = session.cause(failed)
    if (isStoreError(thrown)) throw thrown
    await session.rollbackTo('one_by_one')
    batch.discard()
    const reason = errorText(thrown)
    await quarantine(
      batch,
      rows.map((row) => ({ row, reason })),
      context,
    )
    await batch.flush()
    await session.acknowledged()
    batch.keepTallies()
  }
  await session.plain('RELEASE one_by_one')
  return done
}

type ScopeValues = [Serial, string, string, string, string]

function fail(batch: WriteBatch, row: Values, scope: ScopeValues, reason: string, context: Context): void {
  const [seq, tenant, owner, target, kind] = scope
  const { outcome, event, tally } = quarantineOf({ seq, tenant, owner, kind }, row, reason, context)
  batch.removeTimersOf(seq)
  batch.putOutcome({ seq, tenant, owner, target: { name: target } }, outcome)
  batch.addEventRow(event)
  batch.tallies.add({ tenant, owner }, tally)
}
