import type { Context } from '../../../alarm/index.ts'
import type { Lease } from '../../index.ts'
import {
  type LeasedShard,
  type LeaseStatements,
  type LeaseTransaction,
  type OtherProcess,
  SHARDS_NOTICE,
} from '../../sharded/index.ts'
import { recoverInFlight } from '../claims/index.ts'
import { handlerName, type Session } from '../connection/index.ts'
import type { ShardMap, WriteBatch } from '../rows/index.ts'
import * as sql from '../sql/index.ts'

/** What the statements need from their store. */
export interface LeaseStatementPorts {
  readonly session: Session
  readonly shards: ShardMap
  readonly channel: string
  /** The time to bind where the database's clock is not the authority; else null. */
  readonly moment: () => number | null
  readonly write: <T>(work: (batch: WriteBatch) => Promise<T>) => Promise<T>
}

/** The statements of the lease protocol, in SQL. */
export class PostgresLeaseStatements implements LeaseStatements {
  readonly #ports: LeaseStatementPorts

  constructor(ports: LeaseStatementPorts) {
    this.#ports = ports
  }

  servePools(pools: readonly string[]): Promise<void> {
    return this.#ports.shards.serve(pools)
  }

  async shardsOf(process: string): Promise<readonly LeasedShard[]> {
    const rows = (await this.#ports.session.rows(sql.shardsOfProcess, process)) as [number, number, string][]
    return rows.map(([shard, epoch, pool]) => ({ shard, epoch, pool }))
  }

  leaseTransaction<T>(work: (transaction: LeaseTransaction) => Promise<T>): Promise<T> {
    return this.#ports.write((batch) => work(new Transaction(batch, this.#ports)))
  }
}

class Transaction implements LeaseTransaction {
  readonly #batch: WriteBatch
  readonly #ports: LeaseStatementPorts

  constructor(batch: WriteBatch, ports: LeaseStatementPorts) {
    this.#batch = batch
    this.#ports = ports
  }

  async lockProcess(process: string): Promise<boolean> {
    return (await this.#batch.session.row(sql.lockProcess, process)) !== undefined
  }

  async markDead(
    process: string,
    silent: readonly OtherProcess[],
    ignoresLeases: boolean,
  ): Promise<readonly string[]> {
    const rows = await this.#batch.session.rows(
      sql.removeDeadProcesses,
      process,
      ignoresLeases ? 0 : this.#ports.moment(),
      silent.map((other) => other.process),
      silent.map(({ heartbeats }) => heartbeats),
    )
    return rows.map(([name]) => name as string)
  }

  async acquire(
    process: string,
    pool: string,
    dead: readonly string[],
    count: number,
  ): Promise<readonly LeasedShard[]> {
    const rows = await this.#batch.session.rows(sql.acquireShards, process, pool, dead, count)
    return (rows as [number, number][]).map(([shard, epoch]) => ({ shard, epoch, pool }))
  }

  async recoverInFlight(shards: readonly number[], context: Context): Promise<void> {
    await recoverInFlight(this.#batch, shards, context)
    await this.#batch.flush()
  }

  async removeDead(dead: readonly string[]): Promise<void> {
    this.#batch.session.send(sql.endHandlers, dead.map(handlerName))
    this.#batch.session.send(sql.deleteProcesses, dead)
  }

  /** Two statements: what is in flight must be read after the shards are locked. */
  async giveUpIdle(process: string, leases: readonly Lease[], count: number): Promise<ReadonlySet<number>> {
    const { session } = this.#batch
    const [shards, epochs] = [leases.map(({ shard }) => shard), leases.map(({ epoch }) => epoch)]
    const idle = await session.rows(sql.lockIdleShards, shards, epochs, process)
    const released = await session.rows(
      sql.giveUpShards,
      idle.map(([shard]) => shard as number),
      count,
    )
    return new Set(released.map(([shard]) => shard as number))
  }

  async release(processes: readonly string[], leases: readonly Lease[]): Promise<void> {
    const { session } = this.#batch
    session.send(
      sql.releaseShards,
      leases.map(({ shard }) => shard),
      leases.map(({ epoch }) => epoch),
    )
    for (const process of processes) {
      session.send(sql.leavePools, process)
      session.send(sql.leaveStore, process)
    }
  }

  notifyFreeShards(): void {
    this.#batch.session.send(sql.notify, this.#ports.channel, SHARDS_NOTICE)
  }
}
