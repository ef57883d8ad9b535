import { type LeaseStatements, type LeaseTransaction, SHARDS_NOTICE } from '../../sharded/index.ts'
import { handlerName, recoverInFlight } from '../claims/index.ts'
import { properties, type Session } from '../connection/index.ts'
import type { RunInTransaction, StoreContext, WriteBatch } from '../rows/index.ts'
import * as sql from '../sql/index.ts'

/** The statements of the lease protocol, in SQL. */
export function leaseStatements(
  session: Session,
  { shards }: StoreContext,
  inTransaction: RunInTransaction,
): LeaseStatements {
  return {
    ensureShards: (pools) => shards.ensureServed(pools),
    async shardsOf(process) {
      const rows = (await session.rows(sql.shardsOfProcess, process)) as [number, number, string][]
      return rows.map(([shard, epoch, pool]) => ({ shard, epoch, pool }))
    },
    leaseTransaction: (work) => inTransaction((batch) => work(leaseTransaction(batch))),
  }
}

function leaseTransaction(batch: WriteBatch): LeaseTransaction {
  const { session } = batch
  return {
    async lockProcess(process) {
      return (await session.row(sql.lockProcess, process)) !== undefined
    },
    async markDead(process, silent, hasClockJumped) {
      const clockOverride = hasClockJumped ? 0 : batch.clockOverride()
      const others = properties(silent, 'process', 'heartbeats')
      const rows = await session.rows(sql.markDeadProcesses, process, clockOverride, ...others)
      return rows.map(([name]) => name as string)
    },
    async acquire(process, pool, dead, count) {
      const rows = await session.rows(sql.acquireShards, process, pool, dead, count)
      return (rows as [number, number][]).map(([shard, epoch]) => ({ shard, epoch, pool }))
    },
    async recoverInFlight(shards, context) {
      await recoverInFlight(batch, shards, context)
      await batch.flush()
    },
    async removeDead(dead) {
      session.send(sql.endHandlers, dead.map(handlerName))
      session.send(sql.deleteProcesses, dead)
    },
    // Two statements: what is in flight must be read after the shards are locked.
    async releaseIdle(process, leases, count) {
      const idle = await session.rows(sql.lockFreeOwnShards, ...properties(leases, 'shard', 'epoch'), process)
      const shards = idle.map(([shard]) => shard as number)
      const released = await session.rows(sql.releaseSomeShards, shards, count)
      return new Set(released.map(([shard]) => shard as number))
    },
    async release(processes, leases) {
      session.send(sql.releaseShards, ...properties(leases, 'shard', 'epoch'))
      for (const process of processes) {
        session.send(sql.leavePools, process)
        session.send(sql.deleteProcesses, [process])
      }
    },
    async leave(process) {
      session.send(sql.releaseAllShards, process)
      session.send(sql.deleteProcesses, [process])
    },
    notifyFreeShards: () => batch.notify(SHARDS_NOTICE),
  }
}
