import type { Context } from '../../alarm/index.ts'
import type { Clock } from '../../time/index.ts'
import type { Lease } from '../index.ts'
import {
  type HeartbeatRequest,
  type HeartbeatResult,
  LivenessTracker,
  type OtherProcess,
  untilOverdueMs,
} from './heartbeat.ts'
import { type NextWakeCache, RECENT_MS } from './next-wake-cache.ts'
import { DrainingShards, type PoolRebalance, rebalancePool } from './shard-balance.ts'

/** A shard that a process holds, without the lease's end. */
export type LeasedShard = Pick<Lease, 'shard' | 'epoch' | 'pool'>

/**
 * The statements of the lease protocol: PostgreSQL implements them in SQL, the simulated store in memory. Decisions
 * are made above this port, so that the simulator tests them too.
 */
export interface LeaseStatements {
  /** Creates the shards of pools that do not exist yet. */
  ensureShards(pools: readonly string[]): Promise<void>
  /** The shards that a process holds, by a statement that begins now. */
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
   * is dead if its lease has ended, unless the clock has just jumped, so that leases only seem to have ended. It is also
   * dead if it is among the silent and has sent no heartbeat since. Skips locked rows. Returns the dead processes.
   */
  markDead(
    process: string,
    silent: readonly OtherProcess[],
    hasClockJumped: boolean,
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
  /** Ends the open handler transactions of dead processes, and deletes the processes that hold no shard. */
  removeDead(dead: readonly string[]): Promise<void>
  /** Releases up to `count` of these shards: only those with nothing in flight and no lock. */
  releaseIdle(process: string, leases: readonly Lease[], count: number): Promise<ReadonlySet<number>>
  /** Releases these shards, and removes the process from pools of which it holds none. */
  release(processes: readonly string[], leases: readonly Lease[]): Promise<void>
  /** Releases all shards of a process, and deletes its row. */
  leave(process: string): Promise<void>
  /** Notifies the other processes, at the commit, that shards are free. */
  notifyFreeShards(): void
}

/** What the leases need from their store. */
export interface ShardLeasePorts {
  /** The host's clock. */
  readonly clock: Clock
  readonly leaseMs: number
  readonly statements: LeaseStatements
  /** Sends the heartbeat, on the listening connection if there is one. */
  readonly sendHeartbeat: (request: HeartbeatRequest) => Promise<HeartbeatResult>
  readonly nextWakes: NextWakeCache
  /** Called with each heartbeat, and the moments of the monotonic clock when it was sent and answered. */
  readonly onHeartbeat: (result: HeartbeatResult, sentAt: number, answeredAt: number) => void
  /** Requests another heartbeat after this many milliseconds: a shard may be free or idle then. */
  readonly requestHeartbeat: (afterMs: number) => void
}

/** How soon to check again whether a draining shard is idle. */
const DRAIN_CHECK_MS = 50
/** How soon to try again to acquire a shard that was locked. */
const LOCKED_AGAIN_MS = 250

/** A heartbeat that takes longer than this is slow. */
const SLOW_HEARTBEAT_MS = 100
/** How many heartbeats after a slow one search recent wakes only. */
const RECENT_ONLY_HEARTBEATS = 15

/** The shards that this process holds, and how it acquires and releases them (promise: fenced). */
export class ShardLeases {
  readonly #ports: ShardLeasePorts
  /** By name of the process. Usually one; tests run several processes on one store object. */
  readonly #holders = new Map<string, LeaseHolder>()
  readonly #liveness: LivenessTracker
  #lastTurn: Promise<unknown> = Promise.resolve()

  constructor(ports: ShardLeasePorts) {
    this.#ports = ports
    this.#liveness = new LivenessTracker(ports.leaseMs)
  }

  /** Renews a process's leases, acquires free shards, and releases those over its share. */
  heartbeat(process: string, pools: readonly string[], context: Context): Promise<Lease[]> {
    return this.#inTurn(() => {
      const holder = this.#holders.get(process) ?? new LeaseHolder(process, this.#ports, this.#liveness)
      this.#holders.set(process, holder)
      return holder.heartbeat(pools, context)
    })
  }

  /** Releases shards at once, and notifies the others. */
  async release(leases: readonly Lease[]): Promise<void> {
    if (leases.length === 0) return
    const processes = [...new Set(leases.map(({ holder }) => holder))]
    await this.#freeShards(processes, (transaction) => transaction.release(processes, leases))
  }

  /**
   * Releases all shards of a process and removes it, even if it holds none: until its lease ends, the others would keep
   * its share of the shards free.
   */
  leave(process: string): Promise<void> {
    return this.#freeShards([process], (transaction) => transaction.leave(process))
  }

  /** Whether a shard is draining: nothing more is claimed from it. */
  isDraining(lease: Lease): boolean {
    return this.#holders.get(lease.holder)?.draining.has(lease.shard) === true
  }

  /**
   * Whether this process holds the shard, so that no other need be notified of its wakes. Not if its lease has ended:
   * another may hold it by now.
   */
  holds(shard: number): boolean {
    const now = this.#ports.clock.monotonic()
    for (const { leases } of this.#holders.values()) if ((leases.get(shard)?.until ?? 0) > now) return true
    return false
  }

  #freeShards(
    processes: readonly string[],
    free: (transaction: LeaseTransaction) => Promise<void>,
  ): Promise<void> {
    return this.#inTurn(async () => {
      await this.#ports.statements.leaseTransaction(async (transaction) => {
        await free(transaction)
        transaction.notifyFreeShards()
      })
      for (const process of processes) this.#holders.delete(process)
    })
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#lastTurn.then(work)
    this.#lastTurn = turn.catch(() => {})
    return turn
  }
}

/** The leases of one process. */
class LeaseHolder {
  leases = new Map<number, Lease>()
  readonly draining = new DrainingShards()
  readonly #process: string
  readonly #ports: ShardLeasePorts
  readonly #liveness: LivenessTracker
  /** The `takeovers` of the last heartbeat's result; null before the first. */
  #takeovers: number | null = null
  /** How many of the next heartbeats search recent wakes only. */
  #recentOnlyLeft = 0
  /** `now` of the last answered heartbeat, from before it was sent: it has seen everything that was written until then. */
  #lastHeartbeatAt = 0

  constructor(process: string, ports: ShardLeasePorts, liveness: LivenessTracker) {
    this.#process = process
    this.#ports = ports
    this.#liveness = liveness
  }

  async heartbeat(pools: readonly string[], context: Context): Promise<Lease[]> {
    const { clock, leaseMs, statements, onHeartbeat, requestHeartbeat } = this.#ports
    await statements.ensureShards(pools)
    const sentAt = clock.monotonic()
    const result = await this.#send(pools, context)
    const answeredAt = clock.monotonic()
    this.#liveness.observe(result, sentAt, answeredAt)
    onHeartbeat(result, sentAt, answeredAt)
    // Counted from before the heartbeat was sent, so that the lease never ends later here than in the database (promise: fenced).
    const until = sentAt + leaseMs
    const mine = await this.#currentLeases(result)
    this.leases = new Map(mine.map((each) => [each.shard, { ...each, holder: this.#process, until }]))
    await this.#releaseSurplus(pools, result, answeredAt)
    await this.#acquire(pools, result, until, context)
    // A dead process's lease may end long before the next heartbeat: take over then, not later.
    const overdue = untilOverdueMs(result, leaseMs)
    if (overdue !== null) requestHeartbeat(overdue + 1)
    return [...this.leases.values()].sort((a, b) => a.shard - b.shard)
  }

  async #send(pools: readonly string[], { now }: Context): Promise<HeartbeatResult> {
    const { clock, leaseMs, nextWakes, sendHeartbeat } = this.#ports
    const wakesFrom = this.#searchFrom(now)
    const searchesAll = wakesFrom === 0
    const sentAt = clock.monotonic()
    const result = await nextWakes.scan(async (scan) => {
      const answer = await sendHeartbeat({ process: this.#process, pools, leaseMs, wakesFrom })
      for (const [shard, first] of answer.nextWakes)
        nextWakes.raiseLowerBound(scan, shard, { wakeAt: first ?? answer.now, id: 0 }, searchesAll)
      return answer
    })
    if (searchesAll && clock.monotonic() - sentAt <= SLOW_HEARTBEAT_MS) this.#recentOnlyLeft = 0
    this.#lastHeartbeatAt = now
    return result
  }

  /**
   * The instant from which the heartbeat searches for wakes; 0 searches everything. That is slow while an old snapshot
   * keeps dead rows of fired timers in the index. So after a slow search, the next 15 heartbeats search only from shortly
   * before the last one: timers written since then rarely wake earlier.
   */
  #searchFrom(now: number): number {
    this.#recentOnlyLeft -= 1
    if (this.#recentOnlyLeft >= 0) return Math.max(0, Math.min(now, this.#lastHeartbeatAt) - RECENT_MS)
    // Assume a slow search until a fast answer arrives: a search that times out must not be repeated by the next heartbeat.
    this.#recentOnlyLeft = RECENT_ONLY_HEARTBEATS
    return 0
  }

  /**
   * The leases that this process still holds. If another process has taken over from this one since the last
   * heartbeat, this heartbeat's snapshot may still show those shards as ours: a new statement reads them again.
   */
  async #currentLeases(result: HeartbeatResult): Promise<readonly LeasedShard[]> {
    const isCurrent = this.#takeovers === result.takeovers
    this.#takeovers = result.takeovers
    const shards = isCurrent
      ? result.shards.filter(({ holder }) => holder === this.#process)
      : await this.#ports.statements.shardsOf(this.#process)
    const pools = new Set(result.shards.map(({ pool }) => pool))
    return shards
      .filter(({ pool }) => pools.has(pool))
      .map(({ shard, epoch, pool }) => ({ shard, epoch, pool }))
  }

  /** How many shards of each pool to acquire or release, by this heartbeat. */
  #rebalance(pools: readonly string[], result: HeartbeatResult, at: number): PoolRebalance[] {
    const isDead = (other: OtherProcess) => this.#liveness.isDead(other, result.now, at)
    return pools.map((pool) => rebalancePool(pool, this.#process, this.leases.values(), result, isDead))
  }

  async #releaseSurplus(pools: readonly string[], result: HeartbeatResult, at: number): Promise<void> {
    const { statements, requestHeartbeat } = this.#ports
    const surplus = this.#rebalance(pools, result, at).filter(({ release }) => release > 0)
    if (surplus.length === 0) {
      this.draining.stop()
      return
    }
    const busy = new Set<number>()
    for (const { mine, release } of surplus) {
      const released = await statements.leaseTransaction(async (transaction) => {
        const idle = await transaction.releaseIdle(this.#process, mine, release)
        if (idle.size > 0) transaction.notifyFreeShards()
        return idle
      })
      for (const shard of released) this.leases.delete(shard)
      if (released.size > 0) this.draining.resetBackoff()
      const left = mine.filter(({ shard }) => !released.has(shard)).slice(0, release - released.size)
      for (const { shard } of left) busy.add(shard)
    }
    // Idle shards are released at once. The busy ones drain: nothing is claimed from them until they are idle.
    this.draining.update(busy, at)
    if (this.draining.isActive) requestHeartbeat(DRAIN_CHECK_MS)
  }

  async #acquire(
    pools: readonly string[],
    result: HeartbeatResult,
    until: number,
    context: Context,
  ): Promise<void> {
    const { clock, statements, nextWakes, requestHeartbeat } = this.#ports
    const rebalances = this.#rebalance(pools, result, clock.monotonic())
    const wanted = rebalances.filter(({ acquire }) => acquire > 0)
    if (wanted.length === 0) return
    const acquired = await statements.leaseTransaction((transaction) =>
      this.#acquireIn(transaction, wanted, result, context),
    )
    for (const { shard, epoch, pool } of acquired) {
      // This process does not know the wakes that were written while another one held the shard.
      nextWakes.forget(shard)
      this.leases.set(shard, { shard, pool, holder: this.#process, epoch, until })
    }
    const missed = wanted.reduce((sum, { acquire }) => sum + acquire, 0) - acquired.length
    // The missing shards were locked, and will be free soon.
    if (missed > 0) requestHeartbeat(LOCKED_AGAIN_MS)
  }

  async #acquireIn(
    transaction: LeaseTransaction,
    wanted: readonly PoolRebalance[],
    result: HeartbeatResult,
    context: Context,
  ): Promise<LeasedShard[]> {
    const process = this.#process
    // Other processes delete the row of a process that was stopped for long. Without it, they could not detect its
    // death, and the shards that it acquires now would be lost with it. Its next heartbeat inserts the row again.
    if (!(await transaction.lockProcess(process))) return []
    const at = this.#ports.clock.monotonic()
    const silent = result.others.filter((other) => this.#liveness.isSilent(other, at))
    const dead = await transaction.markDead(process, silent, this.#liveness.hasJumped(at))
    const acquired: LeasedShard[] = []
    for (const { pool, acquire: count } of wanted)
      acquired.push(...(await transaction.acquire(process, pool, dead, count)))
    await transaction.recoverInFlight(
      acquired.map(({ shard }) => shard),
      context,
    )
    if (dead.length > 0) await transaction.removeDead(dead)
    return acquired
  }
}
