import type { Context } from '../../alarm/index.ts'
import type { Lease } from '../index.ts'
import type { HeartbeatRequest, HeartbeatResult, OtherProcess } from './heartbeat.ts'

/** A shard that a process owns, without the lease's end. */
export type LeasedShard = Pick<Lease, 'shard' | 'epoch' | 'pool'>

/**
 * The statements of the lease protocol: PostgreSQL implements them in SQL, the simulated store in memory. Decisions
 * are made above this port, so that the simulator tests them too.
 */
export interface LeaseStatements {
  /** Creates the shards of pools that do not exist yet. */
  servePools(pools: readonly string[]): Promise<void>
  /** The shards that a process owns, by a statement that begins now. */
  shardsOf(process: string): Promise<readonly LeasedShard[]>
  /** Runs work in one transaction; retries it after contention. */
  leaseTransaction<T>(work: (transaction: LeaseTransaction) => Promise<T>): Promise<T>
}

/** The statements of one transaction that moves shards. */
export interface LeaseTransaction {
  /** Whether the process is registered; keeps its row until this transaction ends. */
  lockProcess(process: string): Promise<boolean>
  /**
   * Marks other processes as dead, and locks their rows, so that a late heartbeat comes before or after it. A process
   * is dead if its lease has ended (unless `ignoresLeases`), or if it is among the silent and has sent no heartbeat
   * since. Skips locked rows. Returns the dead processes.
   */
  markDead(
    process: string,
    silent: readonly OtherProcess[],
    ignoresLeases: boolean,
  ): Promise<readonly string[]>
  /** Acquires up to `count` free shards of a pool: without a holder, or of a dead one. Skips locked shards. */
  acquire(
    process: string,
    pool: string,
    dead: readonly string[],
    count: number,
  ): Promise<readonly LeasedShard[]>
  /** Counts what was in flight in these shards as a lost attempt. */
  recoverInFlight(shards: readonly number[], context: Context): Promise<void>
  /** Ends the open handler transactions of dead processes, and deletes the processes that own no shard. */
  removeDead(dead: readonly string[]): Promise<void>
  /** Releases up to `count` of these shards: only those with nothing in flight and no lock. */
  giveUpIdle(process: string, leases: readonly Lease[], count: number): Promise<ReadonlySet<number>>
  /** Releases these shards, and removes the process from pools of which it owns none. */
  release(processes: readonly string[], leases: readonly Lease[]): Promise<void>
  /** Notifies the other processes, at the commit, that shards are free. */
  notifyFreeShards(): void
}

/** Sends a heartbeat. */
export type SendHeartbeat = (request: HeartbeatRequest) => Promise<HeartbeatResult>
