import type { Context } from '../../../alarm/index.ts'
import type { Lease } from '../../index.ts'
import {
  type LeasedShard,
  type LeaseStatements,
  type LeaseTransaction,
  type OtherProcess,
  SHARDS_NOTICE,
} from '../../sharded/index.ts'
import { handlerName, recoverInFlight } from '../claims/index.ts'
import { properties, type Session } from '../connection/index.ts'
import type { StoreContext, Write, WriteBatch } from '../rows/index.ts'
import * as sql from '../sql/index.ts'

/** The statements of the lease protocol, in SQL. */
export class PostgresLeaseStatements implements LeaseStatements {
  readonly #session: Session
  readonly #context: StoreContext
  readonly #write: Write

  constructor(session: Session, context: StoreContext, write: Write) {
    this.#session = session
    this.#context = context
    this.#write = write
  }

  servePools(pools: readonly string[]): Promise<void> {
    return this.#context.shards.serve(pools)
  }

  async shardsOf(process: string): Promise<readonly LeasedShard[]> {
    const rows = (await this.#session.rows(sql.shardsOfProcess, process)) as [number, number, string][]
    return rows.map(([shard, epoch, pool]) => ({ shard, epoch, pool }))
  }

  leaseTransaction<T>(work: (transaction: LeaseTransaction) => Promise<T>): Promise<T> {
    return this.#write((batch) => work(new Transaction(batch)))
  }
}

class Transaction implements LeaseTransaction {
  readonly #batch: WriteBatch

  constructor(batch: WriteBatch) {
    this.#batch = batch
  }

  async lockProcess(process: string): Promise<boolean> {
    return (await this.#batch.session.row(sql.lockProcess, process)) !== undefined
  }

  async markDead(
    process: string,
    silent: readonly OtherProcess[],
    ignoresLeases: boolean,
  ): Promise<readonly string[]> {
    const moment = ignoresLeases ? 0 : this.#batch.moment()
    const others = properties(silent, 'process', 'heartbeats')
    const rows = await this.#batch.session.rows(sql.markDeadProcesses, process, moment, ...others)
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
    const idle = await session.rows(sql.lockFreeOwnShards, ...properties(leases, 'shard', 'epoch'), process)
    const shards = idle.map(([shard]) => shard as number)
    const released = await session.rows(sql.giveUpShards, shards, count)
    return new Set(released.map(([shard]) => shard as number))
  }

  async release(processes: readonly string[], leases: readonly Lease[]): Promise<void> {
    const { session } = this.#batch
    session.send(sql.releaseShards, ...properties(leases, 'shard', 'epoch'))
    for (const process of processes) {
      session.send(sql.leavePools, process)
      session.send(sql.deleteProcesses, [process])
    }
  }

  async leave(process: string): Promise<void> {
    this.#batch.session.send(sql.releaseAllShards, process)
    this.#batch.session.send(sql.deleteProcesses, [process])
  }

  notifyFreeShards(): void {
    this.#batch.notify(SHARDS_NOTICE)
  }
}
