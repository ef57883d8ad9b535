import { createHash } from 'node:crypto'
import type { Context } from '../../../alarm/index.ts'
import { WakefulError } from '../../../error.ts'
import type { Lease, Settlement, SettleResult } from '../../index.ts'
import { commit, type Database, IDLE_IN_TRANSACTION_MS } from '../connection/index.ts'
import { type StoreContext, WriteBatch } from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import { LostLeases, settleTogether } from './settle.ts'

/**
 * The handler may take long, but its settle locks the shard, and an idle one must not block a takeover. From here on,
 * a takeover waits for the commit instead of ending the transaction.
 */
const SETTLING = `SET LOCAL idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}; SET LOCAL application_name TO DEFAULT`

/**
 * Runs a handler in its own transaction, which commits together with the settlement. The shard is locked only by the
 * settle at the end, so that a long handler blocks nothing. `onWritten` is called with the batch that was
 * written, or may have been.
 */
export function transact(
  database: Database,
  storeContext: StoreContext,
  onWritten: (batch: WriteBatch) => void,
  lease: Lease,
  work: (tx: unknown) => Promise<Settlement>,
  context: () => Context,
): Promise<SettleResult> {
  return database.handler(async (session, client) => {
    if ((await session.row(sql.isOwn, lease.shard, lease.epoch)) === undefined) {
      await session.plain('ROLLBACK')
      return { lost: [lease], stale: 0 }
    }
    await session.plain(`SET LOCAL application_name = '${handlerName(lease.holder)}'; SAVEPOINT handler`)
    const settlement = await work(client)
    try {
      await session.plain(`RELEASE SAVEPOINT handler; ${SETTLING}`)
    } catch (cause) {
      throw new WakefulError('handler.ended_transaction', {}, { cause })
    }
    const batch = new WriteBatch(session, storeContext)
    const outcomes = { settlements: [settlement], batches: [], context: context() }
    const settled = await settleTogether(batch, outcomes).catch((thrown: unknown): SettleResult => {
      if (thrown instanceof LostLeases) return { lost: thrown.leases, stale: 0 }
      throw thrown
    })
    if (settled.lost.length > 0 || settled.stale > 0) {
      await session.acknowledged().catch(() => {})
      await session.plain('ROLLBACK')
      return settled
    }
    await batch.finish()
    try {
      await commit(session)
    } finally {
      // Also if the answer is lost: the commit may have happened.
      onWritten(batch)
    }
    return settled
  })
}

/** The application name of a process's handler transactions: a takeover ends them by it. */
export function handlerName(owner: string): string {
  return `wakeful handler ${createHash('sha1').update(owner).digest('hex').slice(0, 16)}`
}
