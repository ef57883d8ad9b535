import type { Context } from '../../../alarm/index.ts'
import type { Clock } from '../../../time/index.ts'
import type { Lease } from '../../index.ts'
import { recoverFlights } from '../claims/index.ts'
import type { Session, System } from '../connection/index.ts'
import type { WriteContext } from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import { SideLock, sidePath } from './side-lock.ts'

/** A row of the shards' table. */
export interface ShardRow {
  shard: number
  pool: string
  holder: string | null
  epoch: number
  file_locked: 0 | 1
}

interface Claim {
  readonly lease: Lease
  readonly lock: SideLock | null
}

/** What was last seen of another owner's beat, and since when on this process's own clock. */
interface Sighting {
  readonly beat: number | null
  readonly epoch: number
  readonly since: number
}

/** What ownership needs from its store. */
export interface OwnershipPorts {
  readonly session: Session
  readonly clock: Clock
  readonly system: System
  readonly leaseMs: number
  /** The database's path; null in memory, where nobody else can be. */
  readonly path: string | null
  readonly write: <T>(work: (desk: WriteContext) => T, context: Context) => Promise<T>
  readonly run: <T>(work: (session: Session) => T) => Promise<T>
}

/** Which shards this process owns, and how it comes to own more (promise: fenced). */
export class Ownership {
  readonly #ports: OwnershipPorts
  #owning: Promise<unknown> = Promise.resolve()
  readonly #claims = new Map<string, Claim>()
  readonly #locks = new Map<string, SideLock>()
  readonly #sightings = new Map<string, Sighting>()

  constructor(ports: OwnershipPorts) {
    this.#ports = ports
  }

  /** Renews what is held and claims what is free: the heartbeat. Writes nothing where nothing changes hands. */
  own(owner: string, pools: readonly string[], context: Context): Promise<Lease[]> {
    // One after the other: two claims of this process would take the lock from each other.
    const owning = this.#owning.then(() => this.#ownAll(owner, pools, context))
    this.#owning = owning.catch(() => {})
    return owning
  }

  async #ownAll(owner: string, pools: readonly string[], context: Context): Promise<Lease[]> {
    const leases: Lease[] = []
    for (const pool of pools) {
      const lease = (await this.#renew(pool)) ?? (await this.#claim(owner, pool, context))
      if (lease !== null) leases.push(lease)
    }
    return leases
  }

  async disown(leases: readonly Lease[]): Promise<void> {
    for (const { pool, shard, epoch } of leases) {
      const claim = this.#claims.get(pool)
      if (claim?.lease.epoch === epoch) this.#claims.delete(pool)
      await this.#ports.run((session) => session.run(sql.disownShard, shard, epoch))
      claim?.lock?.release()
    }
  }

  /** Lets go of everything, without a write: for a store that is closing or gone. */
  release(): void {
    for (const lock of this.#locks.values()) lock.release()
    this.#claims.clear()
  }

  async #renew(pool: string): Promise<Lease | null> {
    const claim = this.#claims.get(pool)
    if (claim === undefined) return null
    const hasLapsed = claim.lock !== null && this.#ports.clock.monotonic() >= claim.lease.until
    const show = (session: Session) => this.#show(session, claim)
    const { row, from } = hasLapsed ? await this.#ports.run(show) : show(this.#ports.session)
    if (row?.epoch !== claim.lease.epoch) {
      claim.lock?.release()
      this.#claims.delete(pool)
      return null
    }
    // Taken from a stopped process, the lock may have become free since.
    if (row.file_locked === 0 && claim.lock?.tryAcquire()) {
      await this.#ports.run((session) => session.run(sql.lockShard, row.shard, row.epoch))
    }
    const lease = { ...claim.lease, until: from + this.#ports.leaseMs }
    this.#claims.set(pool, { ...claim, lease })
    return lease
  }

  /**
   * Shows that this process lives, if the shard is still its own. While its lease holds nobody can have judged it dead;
   * afterwards somebody may be about to take over, and the write lock says who comes first.
   */
  #show(session: Session, { lock, lease }: Claim): { row: ShardRow | undefined; from: number } {
    const { clock } = this.#ports
    const from = clock.monotonic()
    lock?.beat(clock.now())
    return { row: session.get<ShardRow>(sql.shardOfPool, lease.pool), from }
  }

  async #claim(owner: string, pool: string, context: Context): Promise<Lease | null> {
    const row = this.#ports.session.get<ShardRow>(sql.shardOfPool, pool) ?? (await this.#addShard(pool))
    const lock = this.#lockOf(pool)
    const locked = lock?.tryAcquire() ?? true
    if (lock !== null && !this.#isFree(row, lock, locked)) {
      if (locked) lock.release()
      return null
    }
    const from = this.#ports.clock.monotonic()
    const beat = lock?.lastBeat()
    const epoch = await this.#ports.write((desk) => {
      // The write lock was waited for: whoever was taken for dead may have shown that he lives.
      if (lock?.lastBeat() !== beat) return undefined
      const claimed = desk.session.get<{ epoch: number }>(
        sql.claimShard,
        owner,
        locked ? 1 : 0,
        row.shard,
        row.epoch,
      )
      if (claimed !== undefined) recoverFlights(desk, row.shard)
      return claimed?.epoch
    }, context)
    if (epoch === undefined) {
      lock?.release()
      return null
    }
    lock?.beat(this.#ports.clock.now())
    const lease = { shard: row.shard, pool, holder: owner, epoch, until: from + this.#ports.leaseMs }
    this.#claims.set(pool, { lease, lock })
    this.#sightings.delete(pool)
    return lease
  }

  /**
   * A dead owner's lock is free at once. A stopped one keeps it, so its beat is watched: when it has not moved for a
   * whole lease on our own monotonic clock, its epoch ends. An owner without the lock is judged by its beat alone.
   */
  #isFree(row: ShardRow, lock: SideLock, locked: boolean): boolean {
    if (row.holder === null || (locked && row.file_locked === 1)) return true
    const now = this.#ports.clock.monotonic()
    const beat = lock.lastBeat()
    const seen = this.#sightings.get(row.pool)
    if (seen === undefined || seen.beat !== beat || seen.epoch !== row.epoch) {
      this.#sightings.set(row.pool, { beat, epoch: row.epoch, since: now })
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
      lock = new SideLock(sidePath(this.#ports.path, pool), this.#ports.system)
      this.#locks.set(pool, lock)
    }
    return lock
  }
}
