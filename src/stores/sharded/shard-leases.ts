import type { Context } from '../../alarm/index.ts'
import type { Clock } from '../../time/index.ts'
import type { Lease } from '../index.ts'
import { type HeartbeatResult, LivenessTracker, type OtherProcess, overdueMs } from './heartbeat.ts'
import type { LeasedShard, LeaseStatements, LeaseTransaction, SendHeartbeat } from './lease-statements.ts'
import { type NextWakeCache, RECENT_MS } from './next-wake-cache.ts'
import { type Rebalance, Retirement, rebalancePool } from './shard-balance.ts'

/** What the leases need from their store. */
export interface ShardLeasePorts {
  /** The host's clock. */
  readonly clock: Clock
  readonly leaseMs: number
  readonly statements: LeaseStatements
  /** Sends the heartbeat, on the listening connection if there is one. */
  readonly sendHeartbeat: SendHeartbeat
  readonly nextWakes: NextWakeCache
  /** Called with each heartbeat, and the moments of the monotonic clock when it was sent and answered. */
  readonly onHeartbeat: (result: HeartbeatResult, sentAt: number, answeredAt: number) => void
  /** Requests another heartbeat in this many milliseconds: a shard will be free then. */
  readonly heartbeatIn: (inMs: number) => void
}

/** How soon to check whether a retiring shard is idle, and whether a shard that was locked is free. */
const RETIRING_AGAIN_MS = 50
const LOCKED_AGAIN_MS = 250

/** A heartbeat that took longer than this is followed by this many that only search recent and later wakes. */
const SLOW_HEARTBEAT_MS = 100
const BOUNDED_HEARTBEATS = 15

/** The state of one lease holder; a process is one. */
interface Holding {
  takeovers: number | null
  leases: Map<number, Lease>
  readonly retirement: Retirement
}

/** The shards that this process owns, and how it acquires and releases them (promise: fenced). */
export class ShardLeases {
  readonly #ports: ShardLeasePorts
  readonly #holdings = new Map<string, Holding>()
  readonly #liveness: LivenessTracker
  #last: Promise<unknown> = Promise.resolve()
  #boundedLeft = 0

  constructor(ports: ShardLeasePorts) {
    this.#ports = ports
    this.#liveness = new LivenessTracker(ports.leaseMs)
  }

  /** Renews a process's leases, acquires free shards, and gives up those over its share. */
  heartbeat(process: string, pools: readonly string[], context: Context): Promise<Lease[]> {
    return this.#inTurn(() => this.#heartbeat(process, pools, context))
  }

  /** Releases shards at once, and notifies the others. */
  release(leases: readonly Lease[]): Promise<void> {
    return this.#inTurn(() => this.#release(leases))
  }

  /** Whether a shard is retiring: nothing more is claimed from it. */
  isRetiring(lease: Lease): boolean {
    return this.#holdings.get(lease.holder)?.retirement.has(lease.shard) === true
  }

  /**
   * Whether this process owns the shard, so that no other need be notified of its wakes. Not if its lease has ended:
   * another may own it by now.
   */
  owns(shard: number): boolean {
    const now = this.#ports.clock.monotonic()
    for (const { leases } of this.#holdings.values()) if ((leases.get(shard)?.until ?? 0) > now) return true
    return false
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => {})
    return turn
  }

  async #heartbeat(process: string, pools: readonly string[], context: Context): Promise<Lease[]> {
    const { clock, leaseMs, statements, onHeartbeat } = this.#ports
    await statements.servePools(pools)
    const holding = this.#holdingOf(process)
    const sentAt = clock.monotonic()
    const result = await this.#send(process, pools, context)
    const answeredAt = clock.monotonic()
    this.#liveness.observe(result, sentAt, answeredAt)
    onHeartbeat(result, sentAt, answeredAt)
    // Counted from before the heartbeat was sent: never later than the database counts (promise: fenced).
    const until = sentAt + leaseMs
    const mine = await this.#ownedLeases(process, holding, result)
    holding.leases = new Map(mine.map((each) => [each.shard, { ...each, holder: process, until }]))
    await this.#giveUp(process, holding, pools, result, answeredAt)
    await this.#acquire(process, holding, pools, result, until, context)
    // A dead process's lease may end long before the next heartbeat: take over then, not later.
    const overdue = overdueMs(result, leaseMs)
    if (overdue !== null) this.#ports.heartbeatIn(overdue + 1)
    return [...holding.leases.values()].sort((a, b) => a.shard - b.shard)
  }

  async #send(process: string, pools: readonly string[], { now }: Context): Promise<HeartbeatResult> {
    const { clock, leaseMs, nextWakes, sendHeartbeat } = this.#ports
    const wakesFrom = this.#wakesFrom(now)
    const sentAt = clock.monotonic()
    const result = await nextWakes.scan(async (scan) => {
      const answer = await sendHeartbeat({ process, pools, leaseMs, wakesFrom })
      for (const [shard, first] of answer.nextWakes)
        nextWakes.raise(scan, shard, { wakeAt: first ?? answer.now, id: 0 }, wakesFrom === 0)
      return answer
    })
    if (wakesFrom === 0 && clock.monotonic() - sentAt <= SLOW_HEARTBEAT_MS) this.#boundedLeft = 0
    return result
  }

  /**
   * The instant from which the heartbeat searches wakes. It searches everything while that is fast. While an open
   * snapshot keeps dead rows of fired timers in the index, a full search is slow, so only one in 16 is full: timers
   * that were written without a notice are ahead, or shortly behind.
   */
  #wakesFrom(now: number): number {
    this.#boundedLeft -= 1
    if (this.#boundedLeft >= 0) return Math.max(0, now - RECENT_MS)
    // Until one was fast: a search that is not answered in time must not be repeated at once.
    this.#boundedLeft = BOUNDED_HEARTBEATS
    return 0
  }

  /**
   * The leases that this process still owns. The heartbeat's snapshot is from before a takeover that it waited for:
   * after one, a new statement reads the shards.
   */
  async #ownedLeases(
    process: string,
    holding: Holding,
    result: HeartbeatResult,
  ): Promise<readonly LeasedShard[]> {
    const isCurrent = holding.takeovers === result.takeovers
    holding.takeovers = result.takeovers
    const owned = isCurrent
      ? result.shards.filter(({ holder }) => holder === process)
      : await this.#ports.statements.shardsOf(process)
    const served = new Set(result.shards.map(({ pool }) => pool))
    return owned
      .filter(({ pool }) => served.has(pool))
      .map(({ shard, epoch, pool }) => ({ shard, epoch, pool }))
  }

  /** How many of the pool's shards to acquire or give up, by this heartbeat. */
  #rebalance(
    process: string,
    holding: Holding,
    pool: string,
    result: HeartbeatResult,
    at: number,
  ): Rebalance & { readonly mine: readonly Lease[] } {
    const isDead = (other: OtherProcess) => this.#liveness.isDead(other, result.now, at)
    return rebalancePool(pool, process, holding.leases.values(), result, isDead)
  }

  async #giveUp(
    process: string,
    holding: Holding,
    pools: readonly string[],
    result: HeartbeatResult,
    at: number,
  ): Promise<void> {
    const { statements, heartbeatIn } = this.#ports
    const surplus = pools
      .map((pool) => this.#rebalance(process, holding, pool, result, at))
      .filter(({ giveUp }) => giveUp > 0)
    if (surplus.length === 0) {
      holding.retirement.end()
      return
    }
    const busy = new Set<number>()
    for (const { mine, giveUp } of surplus) {
      const released = await statements.leaseTransaction(async (transaction) => {
        const idle = await transaction.giveUpIdle(process, mine, giveUp)
        if (idle.size > 0) transaction.notifyFreeShards()
        return idle
      })
      for (const shard of released) holding.leases.delete(shard)
      if (released.size > 0) holding.retirement.gaveUp()
      const left = mine.filter(({ shard }) => !released.has(shard)).slice(0, giveUp - released.size)
      for (const { shard } of left) busy.add(shard)
    }
    // Idle shards are given up at once; from the rest nothing more is claimed for a moment.
    holding.retirement.update(busy, at)
    if (holding.retirement.isOn) heartbeatIn(RETIRING_AGAIN_MS)
  }

  async #acquire(
    process: string,
    holding: Holding,
    pools: readonly string[],
    result: HeartbeatResult,
    until: number,
    context: Context,
  ): Promise<void> {
    const { clock, statements, nextWakes, heartbeatIn } = this.#ports
    const at = clock.monotonic()
    const wanted = pools
      .map((pool) => ({ pool, count: this.#rebalance(process, holding, pool, result, at).acquire }))
      .filter(({ count }) => count > 0)
    if (wanted.length === 0) return
    const acquired = await statements.leaseTransaction((transaction) =>
      this.#acquireIn(transaction, process, wanted, result, context),
    )
    for (const { shard, epoch, pool } of acquired) {
      // What was written there while another process owned it is not known here.
      nextWakes.lower(shard, 0)
      holding.leases.set(shard, { shard, pool, holder: process, epoch, until })
    }
    const missed = wanted.reduce((sum, { count }) => sum + count, 0) - acquired.length
    // Shards that were locked at that moment are free soon.
    if (missed > 0) heartbeatIn(LOCKED_AGAIN_MS)
  }

  async #acquireIn(
    transaction: LeaseTransaction,
    process: string,
    wanted: readonly { readonly pool: string; readonly count: number }[],
    result: HeartbeatResult,
    context: Context,
  ): Promise<LeasedShard[]> {
    // Other processes delete the row of a process that was stopped for long. Without it, they could not detect its
    // death, and the shards that it acquires now would be lost with it. Its next heartbeat inserts the row again.
    if (!(await transaction.lockProcess(process))) return []
    const at = this.#ports.clock.monotonic()
    const silent = result.others.filter((other) => this.#liveness.isSilent(other, at))
    const dead = await transaction.markDead(process, silent, this.#liveness.hasJumped(at))
    const acquired: LeasedShard[] = []
    for (const { pool, count } of wanted)
      acquired.push(...(await transaction.acquire(process, pool, dead, count)))
    await transaction.recoverInFlight(
      acquired.map(({ shard }) => shard),
      context,
    )
    if (dead.length > 0) await transaction.removeDead(dead)
    return acquired
  }

  async #release(leases: readonly Lease[]): Promise<void> {
    if (leases.length === 0) return
    const processes = [...new Set(leases.map(({ holder }) => holder))]
    await this.#ports.statements.leaseTransaction(async (transaction) => {
      await transaction.release(processes, leases)
      transaction.notifyFreeShards()
    })
    for (const process of processes) this.#holdings.delete(process)
  }

  #holdingOf(process: string): Holding {
    let holding = this.#holdings.get(process)
    if (holding === undefined) {
      holding = { takeovers: null, leases: new Map(), retirement: new Retirement() }
      this.#holdings.set(process, holding)
    }
    return holding
  }
}
