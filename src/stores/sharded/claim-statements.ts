import type { Serial } from '../../alarm/index.ts'
import type { ClaimedTimer, ClaimRequest, Lease } from '../index.ts'
import type { NextWakeCache, NextWakes, Position } from './next-wake-cache.ts'

/** What claiming asks of the database. */
export interface ClaimStatements {
  /**
   * The next timer of each shard that is still held under its lease, from the shard's lower bound on. A shard that is
   * missing is lost. Writes nothing and locks nothing.
   */
  peek(leases: readonly Lease[], bounds: LowerBounds): Promise<readonly Peeked[]>
  /** The next timers of each shard from its lower bound on, up to `count` of each. */
  nextTimers(shards: readonly number[], bounds: LowerBounds, count: number): Promise<readonly ScannedTimer[]>
  /** Looks for what is due of tenants and owners that are not to be avoided. Locks nothing. */
  fairScan(leases: readonly Lease[], request: ClaimRequest): Promise<FairScan>
  /**
   * Claims what is due, in one transaction: checks and locks the shards, then reads what is due, decides about it, and
   * records what is to be delivered as in flight.
   */
  claimDue(work: ClaimWork): Promise<ClaimResult>
  /** Whether the connection broke, so that the statement may have been carried out or not. */
  isBroken(thrown: unknown): boolean
  /** Whether a lock could not be acquired in time. */
  isLockTimeout(thrown: unknown): boolean
  /** Whether the error is the store's, not that of one row. */
  isStoreError(thrown: unknown): boolean
}

/** From where on each shard is scanned: below it nothing waits. */
export type LowerBounds = Pick<NextWakeCache, 'lowerBound' | 'lowerBounds'>

/** A timer in the order of the due index. */
export interface ScannedTimer extends Position {
  readonly shard: number
  readonly version: number
}

/** The next timer of a shard; null where nothing waits. */
export interface Peeked {
  readonly shard: number
  readonly next: ScannedTimer | null
}

/** What is due of those that are not avoided, and when they are due next. */
export interface FairScan {
  readonly due: readonly { readonly id: Serial; readonly shard: number }[]
  /** Whether more is due than that. */
  readonly more: boolean
  readonly nextWakeAt: number | null
}

/** What is claimed, and how. */
export interface ClaimWork {
  /** The shards in which something is due, and under which leases. */
  readonly leases: readonly Lease[]
  readonly request: ClaimRequest
  readonly bounds: LowerBounds
  /** Where only this is claimed: what tenants are due whom another crowds out. */
  readonly fair: FairScan | null
  /** One row after the other, each undone alone: for when a batch could not be written. */
  readonly oneByOne: boolean
  /** Whether shards that another transaction has locked are passed over, instead of waited for a moment. */
  readonly passesOver: boolean
  /** The batches that are really in flight, where one may have been recorded without an answer; else null. */
  readonly knownBatches: readonly Serial[] | null
}

/** What a claim came to. */
export interface ClaimResult {
  readonly timers: readonly ClaimedTimer[]
  readonly lost: readonly Lease[]
  /** Shards that another transaction has locked. */
  readonly busy: readonly Lease[]
  /** Whether more is due than was claimed. */
  readonly more: boolean
  /** Whether something due was passed over because an open transaction has locked it. */
  readonly passedLocked: boolean
  /** What wakes next after now, by shard. */
  readonly next: NextWakes
  /** The earliest wake that the claim itself wrote, by shard. */
  readonly written: NextWakes
  /** Everything that was scanned, by shard and in order, also what was in flight already. */
  readonly scanned: ReadonlyMap<number, readonly ScannedTimer[]>
}
