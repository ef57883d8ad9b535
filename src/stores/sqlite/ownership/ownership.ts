import type { Context } from '../../../alarm/index.ts'
import type { Clock } from '../../../time/index.ts'
import { type CountOption, DUE_COUNTED_MAX, type Lease, type ShardState } from '../../index.ts'
import { recoverInFlight } from '../claims/index.ts'
import type { Session, System } from '../connection/index.ts'
import type { RowWrites } from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import { isLocked, SideLock, sideFilePath } from './side-lock.ts'

/** A row of `shards`. */
export interface ShardRow {
  shard: number
  pool: string
  holder: string | null
  epoch: number
  file_locked: 0 | 1
}

interface LeasedShard {
  readonly lease: Lease
  readonly lock: SideLock | null
}

/** The last heartbeat seen of another holder, and since when, on this process's monotonic clock. */
interface Sighting {
  readonly heartbeat: number | null
  readonly epoch: number
  readonly since: number
}

/** What the leases need from their store. */
export interface OwnershipPorts {
  readonly session: Session
  readonly clock: Clock
  readonly system: System
  readonly leaseMs: number
  /** The database's path; null in memory, where there is only this process. */
  readonly path: string | null
  readonly write: <T>(work: (write: RowWrites) => T, context: Context) => Promise<T>
  readonly run: <T>(work: (session: Session) => T) => Promise<T>
}

/** The leases of this process: renews those it holds and acquires free shards (promise: fenced). */
export class Ownership {
  readonly #ports: OwnershipPorts
  #running: Promise<unknown> = Promise.resolve()
  readonly #leased = new Map<string, LeasedShard>()
  readonly #locks = new Map<string, SideLock>()
  readonly #sightings = new Map<string, Sighting>()

  constructor(ports: OwnershipPorts) {
    this.#ports = ports
  }

  /** Renews leases and acquires free shards. Writes nothing to the database unless a shard changes its holder. */
  heartbeat(holder: string, pools: readonly string[], context: Context): Promise<Lease[]> {
    // One after the other: two heartbeats of this process would take the file lock from each other.
    const running = this.#running.then(() => this.#heartbeatAll(holder, pools, context))
    this.#running = running.catch(() => {})
    return running
  }

  async #heartbeatAll(holder: string, pools: readonly string[], context: Context): Promise<Lease[]> {
    const leases: Lease[] = []
    for (const pool of pools) {
      const lease = (await this.#renew(pool)) ?? (await this.#acquire(holder, pool, context))
      if (lease !== null) leases.push(lease)
    }
    return leases
  }

  async releaseLeases(leases: readonly Lease[]): Promise<void> {
    for (const { pool, shard, epoch } of leases) {
      const leased = this.#leased.get(pool)
      if (leased?.lease.epoch === epoch) this.#leased.delete(pool)
      await this.#ports.run((session) => session.run(sql.releaseShard, shard, epoch))
      leased?.lock?.release()
    }
  }

  /** Releases all leases of a process. A file has no list of live processes from which it would have to be removed. */
  leave(process: string): Promise<void> {
    const leases = [...this.#leased.values()].map(({ lease }) => lease)
    return this.releaseLeases(leases.filter(({ holder }) => holder === process))
  }

  /** Unlocks the side files without a write, for a store that is closing or gone. */
  release(): void {
    for (const lock of this.#locks.values()) lock.release()
    this.#leased.clear()
  }

  async #renew(pool: string): Promise<Lease | null> {
    const leased = this.#leased.get(pool)
    if (leased === undefined) return null
    const hasLapsed = leased.lock !== null && this.#ports.clock.monotonic() >= leased.lease.until
    const show = (session: Session) => this.#showAlive(session, leased)
    const { row, from } = hasLapsed ? await this.#ports.run(show) : show(this.#ports.session)
    if (row?.epoch !== leased.lease.epoch) {
      leased.lock?.release()
      this.#leased.delete(pool)
      return null
    }
    // The shard was taken over from a stopped process, whose lock may be free by now.
    if (row.file_locked === 0 && leased.lock?.tryAcquire()) {
      await this.#ports.run((session) => session.run(sql.lockShard, row.shard, row.epoch))
    }
    const lease = { ...leased.lease, until: from + this.#ports.leaseMs }
    this.#leased.set(pool, { ...leased, lease })
    return lease
  }

  /**
   * Shows that this process is alive, and reads whether the shard is still its own. While its lease lasts, no other process
   * can have judged it dead. Afterwards one may be about to take over, so this runs under the write lock.
   */
  #showAlive(session: Session, { lock, lease }: LeasedShard): { row: ShardRow | undefined; from: number } {
    const { clock } = this.#ports
    const from = clock.monotonic()
    lock?.heartbeat(clock.now())
    return { row: session.get<ShardRow>(sql.shardOfPool, lease.pool), from }
  }

  async #acquire(holder: string, pool: string, context: Context): Promise<Lease | null> {
    const row = this.#ports.session.get<ShardRow>(sql.shardOfPool, pool) ?? (await this.#addShard(pool))
    const lock = this.#lockOf(pool)
    const locked = lock?.tryAcquire() ?? true
    if (lock !== null && !this.#isFree(row, lock, locked)) {
      if (locked) lock.release()
      return null
    }
    const from = this.#ports.clock.monotonic()
    const heartbeat = lock?.lastHeartbeat()
    const epoch = await this.#ports.write((write) => {
      // It waited for the write lock; meanwhile the other holder may have shown that it is alive.
      if (lock?.lastHeartbeat() !== heartbeat) return undefined
      const values = [holder, locked ? 1 : 0, row.shard, row.epoch]
      const claimed = write.session.get<{ epoch: number }>(sql.claimShard, ...values)
      if (claimed !== undefined) recoverInFlight(write, row.shard)
      return claimed?.epoch
    }, context)
    if (epoch === undefined) {
      lock?.release()
      return null
    }
    lock?.heartbeat(this.#ports.clock.now())
    const lease = { shard: row.shard, pool, holder, epoch, until: from + this.#ports.leaseMs }
    this.#leased.set(pool, { lease, lock })
    this.#sightings.delete(pool)
    return lease
  }

  /**
   * Whether the shard can be taken over. The file lock of a dead holder is free at once. A stopped process keeps its lock, so
   * its heartbeat is watched: if that has not changed for a whole lease on this process's monotonic clock, its epoch ends.
   * A holder without the file lock is judged by its heartbeat alone.
   */
  #isFree(row: ShardRow, lock: SideLock, locked: boolean): boolean {
    if (row.holder === null || (locked && row.file_locked === 1)) return true
    const now = this.#ports.clock.monotonic()
    const heartbeat = lock.lastHeartbeat()
    const seen = this.#sightings.get(row.pool)
    if (seen === undefined || seen.heartbeat !== heartbeat || seen.epoch !== row.epoch) {
      this.#sightings.set(row.pool, { heartbeat, epoch: row.epoch, since: now })
      return false
    }
    return now - seen.since >= this.#ports.leaseMs
  }

  async #addShard(pool: string): Promise<ShardRow> {
    return this.#ports.run((session) => {
      session.run(sql.insertShard, pool)
      return session.get<ShardRow>(sql.shardOfPool, pool)!
    })
  }

  #lockOf(pool: string): SideLock | null {
    if (this.#ports.path === null) return null
    let lock = this.#locks.get(pool)
    if (lock === undefined) {
      lock = new SideLock(sideFilePath(this.#ports.path, pool), this.#ports.system)
      this.#locks.set(pool, lock)
    }
    return lock
  }
}

/**
 * Reads the lease holder of each pool and what is pending there. A holder that locked the side file and has lost that lock
 * is dead: a killed process leaves its name behind.
 */
export function readShards(
  session: Session,
  path: string,
  counts: CountOption = true,
  pools?: readonly string[],
): ShardState[] {
  const rows =
    pools === undefined
      ? session.all<ShardRow>(sql.allShards)
      : session.all<ShardRow>(sql.shardsOfPools, JSON.stringify(pools))
  return rows.map(({ shard, pool, holder, epoch, file_locked }) => {
    const isAlive =
      holder !== null && (path === ':memory:' || file_locked === 0 || isLocked(sideFilePath(path, pool)))
    const pending = countOf(session, shard, counts)
    const nextWakeAt = (session.value(sql.nextTimers, shard, 1)?.[2] ?? null) as number | null
    return { shard, pool, holder: isAlive ? holder : null, epoch, pending, nextWakeAt }
  })
}

function countOf(session: Session, shard: number, counts: CountOption): number {
  if (counts === false) return 0
  if (counts === true) return session.get<{ pending: number }>(sql.pendingOfShard, shard)!.pending
  return session.get<{ due: number }>(sql.dueOfShard, shard, counts.dueBy, DUE_COUNTED_MAX)!.due
}
