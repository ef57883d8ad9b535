import type { Context } from '../../alarm/index.ts'
import { WakefulError } from '../../error.ts'
import type { Lease, Settled, Settlement } from '../index.ts'
import { commit, type Database, IDLE_IN_TRANSACTION_MS } from './database.ts'
import { Desk, type Office } from './desk.ts'
import * as sql from './queries.ts'
import { LostLeases, settleTogether } from './settle.ts'

/** A handler may take its time; its settle holds the shard, and must not keep it from a takeover when nobody is there. */
const SETTLING = `SET LOCAL idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}`

/** What a transaction came to, and the desk it was written at where it has committed. */
export interface Transacted {
  readonly settled: Settled
  readonly desk: Desk | null
}

/**
 * Runs a handler's work in a transaction of its own, which commits with its settlement, or not at all. The shard is
 * locked only by the settle at its end, so that long work holds nobody up.
 */
export function transact(
  database: Database,
  office: Office,
  lease: Lease,
  work: (tx: unknown) => Promise<Settlement>,
  context: () => Context,
): Promise<Transacted> {
  return database.handler(async (session, client) => {
    if ((await session.row(sql.isOwn, lease.shard, lease.epoch)) === undefined) {
      await session.plain('ROLLBACK')
      return { settled: { lost: [lease], stale: 0 }, desk: null }
    }
    await session.plain('SAVEPOINT handler')
    const settlement = await work(client)
    try {
      await session.plain(`RELEASE SAVEPOINT handler; ${SETTLING}`)
    } catch (cause) {
      throw new WakefulError(
        'invalid_request',
        'the handler ended or broke its transaction: fire.tx is committed by Wakeful, with the settle',
        { cause },
      )
    }
    const desk = new Desk(session, office)
    const outcomes = { settlements: [settlement], landed: [], context: context() }
    const settled = await settleTogether(desk, outcomes).catch((thrown: unknown): Settled => {
      if (thrown instanceof LostLeases) return { lost: thrown.leases, stale: 0 }
      throw thrown
    })
    if (settled.lost.length > 0 || settled.stale > 0) {
      await session.landed().catch(() => {})
      await session.plain('ROLLBACK')
      return { settled, desk: null }
    }
    await desk.finish()
    await commit(session)
    return { settled, desk }
  })
}
