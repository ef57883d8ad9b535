import type { ClaimStatements } from '../../sharded/index.ts'
import { type Database, isBroken, isLockTimeout, isStoreError, properties } from '../connection/index.ts'
import type { RunInTransaction } from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import { claimDue } from './claim.ts'
import { scannedTimer } from './due.ts'
import { FairScans } from './fair-scan.ts'

/** How long a claim waits for a shard that an edit has locked. */
const LOCK_WAIT = `SET LOCAL lock_timeout = '100ms'`

/** The statements of claiming, in SQL. */
export function claimStatements(database: Database, inTransaction: RunInTransaction): ClaimStatements {
  const { session } = database
  const fairScans = new FairScans()
  return {
    isBroken,
    isLockTimeout,
    isStoreError,
    async peek(leases, bounds) {
      const lowerBounds = bounds.lowerBounds(leases.map(({ shard }) => shard))
      const values = [...properties(leases, 'shard', 'epoch'), ...lowerBounds, leases[0]!.holder]
      const rows = await session.rows(sql.peekShards, ...values)
      return rows.map((row) => ({
        shard: row[0] as number,
        next: row[3] === null ? null : scannedTimer(row),
      }))
    },
    async nextTimers(shards, bounds, count) {
      const rows = await session.rows(sql.nextTimers, shards, ...bounds.lowerBounds(shards), count)
      return rows.map(scannedTimer)
    },
    fairScan: (leases, request) => fairScans.scan(session, leases, request),
    async claimDue(work) {
      const { timers, ...result } = await inTransaction((batch) => {
        if (!work.passesOver) batch.session.send(LOCK_WAIT)
        return claimDue(batch, work)
      })
      return { ...result, timers: await timers }
    },
  }
}
