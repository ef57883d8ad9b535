import type { Serial } from '../../alarm/index.ts'
import type { ClaimedTimer, ClaimRequest, Lease } from '../index.ts'
import type { NextWakeCache, NextWakes, Position } from './next-wake-cache.ts'

/** The statements of a claim. */
export interface ClaimStatements {
  /**
   * The next timer of each shard that is still owned under its lease, from its lower bound on. A missing shard is
   * lost. Writes and locks nothing.
   */
  peek(leases: readonly Lease[], bounds: LowerBounds): Promise<readonly Peeked[]>
  /** The next timers of each shard from its lower bound on, up to `count` of each. */
  nextTimers(shards: readonly number[], bounds: LowerBounds, count: number): Promise<readonly ScannedTimer[]>
  /** Finds due timers of tenants and owners that are not avoided. Locks nothing. */
  fairScan(leases: readonly Lease[], request: ClaimRequest): Promise<FairScan>
  /**
   * Claims due timers in one transaction: locks the shards and proves ownership, reads what is due, decides, and
   * records what is to be delivered as in flight.
   */
  claimDue(work: ClaimWork): Promise<ClaimResult>
  /** Whether the connection broke, so that it is unknown whether the statement ran. */
  isBroken(thrown: unknown): boolean
  /** Whether a lock could not be acquired in time. */
  isLockTimeout(thrown: unknown): boolean
  /** Whether the error is the store's, not that of one row. */
  isStoreError(thrown: unknown): boolean
}

/** The position from which each shard is scanned: nothing waits below it. */
export type LowerBounds = Pick<NextWakeCache, 'lowerBound' | 'lowerBounds'>

/** A timer in the order of the due index. */
export interface ScannedTimer extends Position {
  readonly shard: number
  readonly version: number
}

/** The next timer of a shard; null if nothing waits. */
export interface Peeked {
  readonly shard: number
  readonly next: ScannedTimer | null
}

/** The due timers of owners that are not avoided, and when they are due next. */
export interface FairScan {
  readonly due: readonly { readonly id: Serial; readonly shard: number }[]
  /** Whether more is due. */
  readonly more: boolean
  readonly nextWakeAt: number | null
}

/** A claim to run. */
export interface ClaimWork {
  /** The leases of the shards with due timers. */
  readonly leases: readonly Lease[]
  readonly request: ClaimRequest
  readonly bounds: LowerBounds
  /** Set if only these are claimed: due timers of tenants that another one crowds out. */
  readonly fair: FairScan | null
  /** Row by row, each in a savepoint: used when a batch could not be written. */
  readonly oneByOne: boolean
  /** Whether to skip shards that another transaction has locked, instead of waiting shortly. */
  readonly passesOver: boolean
  /** The batches that are really in flight, if one may have been recorded without an answer; else null. */
  readonly knownBatches: readonly Serial[] | null
}

/** The result of a claim. */
export interface ClaimResult {
  readonly timers: readonly ClaimedTimer[]
  readonly lost: readonly Lease[]
  /** Shards that another transaction has locked. */
  readonly busy: readonly Lease[]
  /** Whether more is due than was claimed. */
  readonly more: boolean
  /** Whether a due timer was skipped because an open transaction has locked it. */
  readonly passedLocked: boolean
  /** The next wake after now, by shard. */
  readonly next: NextWakes
  /** The earliest wake that the claim itself wrote, by shard. */
  readonly written: NextWakes
  /** All rows that were scanned, by shard and in order, including those in flight. */
  readonly scanned: ReadonlyMap<number, readonly ScannedTimer[]>
}
