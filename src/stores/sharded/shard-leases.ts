import type { Context } from '../../alarm/index.ts'
import type { Clock } from '../../time/index.ts'
import type { Lease } from '../index.ts'
import {
  type HeartbeatRequest,
  type HeartbeatResult,
  LivenessTracker,
  type OtherProcess,
  overdueMs,
} from './heartbeat.ts'
import { type NextWakeCache, RECENT_MS } from './next-wake-cache.ts'
import { type PoolRebalance, Retirement, rebalancePool } from './shard-balance.ts'

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
  /** Requests another heartbeat in this many milliseconds: a shard will be free then. */
  readonly heartbeatIn: (inMs: number) => void
}

/** How soon to check again whether a retiring shard is idle. */
const RETIRING_AGAIN_MS = 50
/** How soon to try again to acquire a shard that was locked. */
const LOCKED_AGAIN_MS = 250

/** A heartbeat that takes longer than this is slow. */
const SLOW_HEARTBEAT_MS = 100
/** How many heartbeats after a slow one do not search old wakes. */
const BOUNDED_HEARTBEATS = 15

/** The shards that this process owns, and how it acquires and releases them (promise: fenced). */
export class ShardLeases {
  readonly #ports: ShardLeasePorts
  /** By name of the process. */
  readonly #holders = new Map<string, LeaseHolder>()
  readonly #liveness: LivenessTracker
  #lastTurn: Promise<unknown> = Promise.resolve()

  constructor(ports: ShardLeasePorts) {
    this.#ports = ports
    this.#liveness = new LivenessTracker(ports.leaseMs)
  }

  /** Renews a process's leases, acquires free shards, and gives up those over its share. */
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
   * Releases all shards of a process and removes it, also if it owns none: until its lease ends, the others would keep its
   * share of the shards free.
   */
  leave(process: string): Promise<void> {
    return this.#freeShards([process], (transaction) => transaction.leave(process))
  }

  /** Whether a shard is retiring: nothing more is claimed from it. */
  isRetiring(lease: Lease): boolean {
    return this.#holders.get(lease.holder)?.retirement.has(lease.shard) === true
  }

  /**
   * Whether this process owns the shard, so that no other need be notified of its wakes. Not if its lease has ended:
   * another may own it by now.
   */
  owns(shard: number): boolean {
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
  readonly retirement = new Retirement()
  readonly #process: string
  readonly #ports: ShardLeasePorts
  readonly #liveness: LivenessTracker
  #takeovers: number | null = null
  /** How many of the next heartbeats do not search old wakes. */
  #boundedLeft = 0
  /** When the last answered heartbeat was sent. It has seen everything that was written before. */
  #searchedAt = 0

  constructor(process: string, ports: ShardLeasePorts, liveness: LivenessTracker) {
    this.#process = process
    this.#ports = ports
    this.#liveness = liveness
  }

  async heartbeat(pools: readonly string[], context: Context): Promise<Lease[]> {
    const { clock, leaseMs, statements, onHeartbeat, heartbeatIn } = this.#ports
    await statements.servePools(pools)
    const sentAt = clock.monotonic()
    const result = await this.#send(pools, context)
    const answeredAt = clock.monotonic()
    this.#liveness.observe(result, sentAt, answeredAt)
    onHeartbeat(result, sentAt, answeredAt)
    // Counted from before the heartbeat was sent, so that the lease never ends later here than in the database (promise: fenced).
    const until = sentAt + leaseMs
    const mine = await this.#ownedLeases(result)
    this.leases = new Map(mine.map((each) => [each.shard, { ...each, holder: this.#process, until }]))
    await this.#giveUp(pools, result, answeredAt)
    await this.#acquire(pools, result, until, context)
    // A dead process's lease may end long before the next heartbeat: take over then, not later.
    const overdue = overdueMs(result, leaseMs)
    if (overdue !== null) heartbeatIn(overdue + 1)
    return [...this.leases.values()].sort((a, b) => a.shard - b.shard)
  }

  async #send(pools: readonly string[], { now }: Context): Promise<HeartbeatResult> {
    const { clock, leaseMs, nextWakes, sendHeartbeat } = this.#ports
    const wakesFrom = this.#searchFrom(now)
    const sentAt = clock.monotonic()
    const result = await nextWakes.scan(async (scan) => {
      const answer = await sendHeartbeat({ process: this.#process, pools, leaseMs, wakesFrom })
      for (const [shard, first] of answer.nextWakes)
        nextWakes.raise(scan, shard, { wakeAt: first ?? answer.now, id: 0 }, wakesFrom === 0)
      return answer
    })
    if (wakesFrom === 0 && clock.monotonic() - sentAt <= SLOW_HEARTBEAT_MS) this.#boundedLeft = 0
    this.#searchedAt = now
    return result
  }

  /**
   * The instant from which the heartbeat searches for wakes; 0 searches everything. That is slow while an open snapshot
   * keeps dead rows of fired timers in the index: then only one heartbeat in 16 does so. The others search from shortly
   * before the last heartbeat, because timers written since then rarely wake earlier.
   */
  #searchFrom(now: number): number {
    this.#boundedLeft -= 1
    if (this.#boundedLeft >= 0) return Math.max(0, Math.min(now, this.#searchedAt) - RECENT_MS)
    // Set before the answer and reset by a fast one: a search that times out must not be repeated by the next heartbeat.
    this.#boundedLeft = BOUNDED_HEARTBEATS
    return 0
  }

  /**
   * The leases that this process still owns. The heartbeat's snapshot is from before a takeover that it waited for:
   * after one, a new statement reads the shards.
   */
  async #ownedLeases(result: HeartbeatResult): Promise<readonly LeasedShard[]> {
    const isCurrent = this.#takeovers === result.takeovers
    this.#takeovers = result.takeovers
    const owned = isCurrent
      ? result.shards.filter(({ holder }) => holder === this.#process)
      : await this.#ports.statements.shardsOf(this.#process)
    const served = new Set(result.shards.map(({ pool }) => pool))
    return owned
      .filter(({ pool }) => served.has(pool))
      .map(({ shard, epoch, pool }) => ({ shard, epoch, pool }))
  }

  /** How many shards of each pool to acquire or give up, by this heartbeat. */
  #rebalance(pools: readonly string[], result: HeartbeatResult, at: number): PoolRebalance[] {
    const isDead = (other: OtherProcess) => this.#liveness.isDead(other, result.now, at)
    return pools.map((pool) => rebalancePool(pool, this.#process, this.leases.values(), result, isDead))
  }

  async #giveUp(pools: readonly string[], result: HeartbeatResult, at: number): Promise<void> {
    const { statements, heartbeatIn } = this.#ports
    const surplus = this.#rebalance(pools, result, at).filter(({ giveUp }) => giveUp > 0)
    if (surplus.length === 0) {
      this.retirement.end()
      return
    }
    const busy = new Set<number>()
    for (const { mine, giveUp } of surplus) {
      const released = await statements.leaseTransaction(async (transaction) => {
        const idle = await transaction.giveUpIdle(this.#process, mine, giveUp)
        if (idle.size > 0) transaction.notifyFreeShards()
        return idle
      })
      for (const shard of released) this.leases.delete(shard)
      if (released.size > 0) this.retirement.gaveUp()
      const left = mine.filter(({ shard }) => !released.has(shard)).slice(0, giveUp - released.size)
      for (const { shard } of left) busy.add(shard)
    }
    // Idle shards are given up at once. The busy ones retire: nothing is claimed from them until they are idle.
    this.retirement.update(busy, at)
    if (this.retirement.isOn) heartbeatIn(RETIRING_AGAIN_MS)
  }

  async #acquire(
    pools: readonly string[],
    result: HeartbeatResult,
    until: number,
    context: Context,
  ): Promise<void> {
    const { clock, statements, nextWakes, heartbeatIn } = this.#ports
    const rebalances = this.#rebalance(pools, result, clock.monotonic())
    const wanted = rebalances.filter(({ acquire }) => acquire > 0)
    if (wanted.length === 0) return
    const acquired = await statements.leaseTransaction((transaction) =>
      this.#acquireIn(transaction, wanted, result, context),
    )
    for (const { shard, epoch, pool } of acquired) {
      // This process does not know the wakes that were written while another one owned the shard.
      nextWakes.lower(shard, 0)
      this.leases.set(shard, { shard, pool, holder: this.#process, epoch, until })
    }
    const missed = wanted.reduce((sum, { acquire }) => sum + acquire, 0) - acquired.length
    // The missing shards were locked, and will be free soon.
    if (missed > 0) heartbeatIn(LOCKED_AGAIN_MS)
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
