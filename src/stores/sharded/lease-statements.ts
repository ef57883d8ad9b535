import type { Context } from '../../alarm/index.ts'
import type { Lease } from '../index.ts'
import type { HeartbeatRequest, HeartbeatResult, OtherProcess } from './heartbeat.ts'

/** A shard that a process holds, without how long. */
export type LeasedShard = Pick<Lease, 'shard' | 'epoch' | 'pool'>

/**
 * What the lease protocol asks of the database. PostgreSQL implements it in SQL, the simulated store in memory: whatever
 * is decided by what a statement answers is decided above this port, so that the simulator runs it too.
 */
export interface LeaseStatements {
  /** Makes the shards of pools that do not exist yet. */
  servePools(pools: readonly string[]): Promise<void>
  /** The shards a process holds, by a statement that begins now. */
  shardsOf(process: string): Promise<readonly LeasedShard[]>
  /** Runs work in one transaction, again where another was in the way. */
  leaseTransaction<T>(work: (transaction: LeaseTransaction) => Promise<T>): Promise<T>
}

/** The statements of one transaction that moves shards. */
export interface LeaseTransaction {
  /** Whether the process still has its row, which nobody removes until this transaction ends. */
  lockProcess(process: string): Promise<boolean>
  /**
   * Marks the processes other than this one that are dead, and locks their rows so that a late heartbeat of theirs comes
   * before this or after it. Dead is whose lease has ended, unless `ignoresLeases`, or who is among the silent and has
   * not beaten since. Rows that are locked are passed over. Returns who is dead.
   */
  markDead(
    process: string,
    silent: readonly OtherProcess[],
    ignoresLeases: boolean,
  ): Promise<readonly string[]>
  /** Acquires up to `count` free shards of a pool: of no process, or of a dead one. Locked shards are passed over. */
  acquire(
    process: string,
    pool: string,
    dead: readonly string[],
    count: number,
  ): Promise<readonly LeasedShard[]>
  /** Counts what was in flight in these shards as a lost attempt. */
  recoverInFlight(shards: readonly number[], context: Context): Promise<void>
  /** Ends what handlers of the dead have open, and removes the rows of those that hold no shard any more. */
  removeDead(dead: readonly string[]): Promise<void>
  /** Gives up to `count` of these shards back, only those with nothing in flight and no lock on them. */
  giveUpIdle(process: string, leases: readonly Lease[], count: number): Promise<ReadonlySet<number>>
  /** Gives these shards back, and removes the process from the pools of which it has none left. */
  release(processes: readonly string[], leases: readonly Lease[]): Promise<void>
  /** Notifies the other processes, at the commit, that shards are free. */
  notifyFreeShards(): void
}

/** Sends a heartbeat. */
export type SendHeartbeat = (request: HeartbeatRequest) => Promise<HeartbeatResult>
