import type { ClaimRequest, Lease } from '../../index.ts'
import type {
  ClaimResult,
  ClaimStatements,
  ClaimWork,
  FairScan,
  LowerBounds,
  Peeked,
  ScannedTimer,
} from '../../sharded/index.ts'
import { type Database, isBroken, isLockTimeout, isStoreError, properties } from '../connection/index.ts'
import type { Write } from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import { claimDue } from './claim.ts'
import { scannedTimer } from './due.ts'
import { FairScans } from './fair-scan.ts'

/** How long a claim waits for a shard that an edit has locked. */
const LOCK_WAIT = `SET LOCAL lock_timeout = '100ms'`

/** The statements of claiming, in SQL. */
export class PostgresClaimStatements implements ClaimStatements {
  readonly isBroken = isBroken
  readonly isLockTimeout = isLockTimeout
  readonly isStoreError = isStoreError
  readonly #database: Database
  readonly #write: Write
  readonly #fairScans = new FairScans()

  constructor(database: Database, write: Write) {
    this.#database = database
    this.#write = write
  }

  async peek(leases: readonly Lease[], bounds: LowerBounds): Promise<readonly Peeked[]> {
    const lowerBounds = bounds.lowerBounds(leases.map(({ shard }) => shard))
    const values = [...properties(leases, 'shard', 'epoch'), ...lowerBounds, leases[0]!.holder]
    const rows = await this.#database.session.rows(sql.peekShards, ...values)
    return rows.map((row) => ({
      shard: row[0] as number,
      next: row[3] === null ? null : scannedTimer(row),
    }))
  }

  async nextTimers(
    shards: readonly number[],
    bounds: LowerBounds,
    count: number,
  ): Promise<readonly ScannedTimer[]> {
    const rows = await this.#database.session.rows(
      sql.nextTimers,
      shards,
      ...bounds.lowerBounds(shards),
      count,
    )
    return rows.map(scannedTimer)
  }

  fairScan(leases: readonly Lease[], request: ClaimRequest): Promise<FairScan> {
    return this.#fairScans.scan(this.#database.session, leases, request)
  }

  async claimDue(work: ClaimWork): Promise<ClaimResult> {
    const { timers, ...result } = await this.#write((batch) => {
      if (!work.passesOver) batch.session.send(LOCK_WAIT)
      return claimDue(batch, work)
    })
    return { ...result, timers: await timers }
  }
}
