import type { Context } from '../../../src/alarm/index.ts'
import type { Lease } from '../../../src/stores/index.ts'
import { type Beat, type Other, overdueMs, Sightings } from '../../../src/stores/sharded/heartbeat.ts'
import type { NextWakeCache } from '../../../src/stores/sharded/next-wake-cache.ts'
import { Retirement } from '../../../src/stores/sharded/retirement.ts'
import { moveIn } from '../../../src/stores/sharded/shard-balance.ts'
import type { Clock } from '../../../src/time/index.ts'
import type { SimulatedDatabase } from './database.ts'
import type { Desk } from './desk.ts'
import { beat, claim, disown, giveUpIdle } from './owners.ts'

/** What ownership needs from its store. */
export interface OwnershipPorts {
  readonly database: SimulatedDatabase
  readonly clock: Clock
  readonly leaseMs: number
  readonly lookout: NextWakeCache
  readonly send: <T>(name: string, run: () => T) => Promise<T>
  readonly write: <T>(name: string, context: Context, work: (desk: Desk) => T) => Promise<T>
  /** Told of each beat, and between which moments of the monotonic clock it was answered. */
  readonly onBeat: (beat: Beat, sentAt: number, answeredAt: number) => void
  /** Asks for another beat so many milliseconds from now: something will have become free. */
  readonly beatAgain: (inMs: number) => void
}

const RETIRE_LOOK_MS = 50

/** One owner's state; a process is one owner. */
interface Held {
  leases: Map<number, Lease>
  readonly retirement: Retirement
}

/**
 * Which shards this process owns, and how it comes to own more, or fewer (promise: fenced). It goes about it as the
 * PostgreSQL store does, and asks the same two who know: who is dead, and whose share is how large.
 */
export class Ownership {
  readonly #ports: OwnershipPorts
  readonly #sightings: Sightings
  readonly #held = new Map<string, Held>()
  #owning: Promise<unknown> = Promise.resolve()

  constructor(ports: OwnershipPorts) {
    this.#ports = ports
    this.#sightings = new Sightings(ports.leaseMs)
  }

  /** Renews what is held, claims what is free, gives up what is over its share: the heartbeat. */
  own(owner: string, pools: readonly string[], context: Context): Promise<Lease[]> {
    return this.#inTurn(() => this.#own(owner, pools, context))
  }

  /** Gives shards back at once, and tells the others. */
  disown(leases: readonly Lease[]): Promise<void> {
    return this.#inTurn(() => this.#disown(leases))
  }

  /** Whether a shard is about to be handed on: nothing more is taken from it. */
  isRetiring(lease: Lease): boolean {
    return this.#held.get(lease.holder)?.retirement.has(lease.shard) === true
  }

  /** Whether this process runs the shard's clock. Not when its lease has ended: somebody else may run it by now. */
  holds(shard: number): boolean {
    const now = this.#ports.clock.monotonic()
    return [...this.#held.values()].some(({ leases }) => (leases.get(shard)?.until ?? 0) > now)
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#owning.then(work)
    this.#owning = turn.catch(() => {})
    return turn
  }

  async #own(owner: string, pools: readonly string[], context: Context): Promise<Lease[]> {
    const { clock, database, leaseMs, lookout, send, onBeat } = this.#ports
    const held = this.#heldBy(owner)
    const sentAt = clock.monotonic()
    const seen = await lookout.scan(async (look) => {
      const heard = await send('own.beat', () => database.atomic(() => beat(database, owner, pools, leaseMs)))
      for (const [shard, first] of heard.firsts)
        lookout.raise(look, shard, { wakeAt: first ?? heard.now, id: 0 })
      return heard
    })
    const answeredAt = clock.monotonic()
    this.#sightings.look(seen, sentAt, answeredAt)
    onBeat(seen, sentAt, answeredAt)
    // Counted from before the beat was sent: never later than the database counts (promise: fenced).
    const until = sentAt + leaseMs
    const mine = seen.shards.filter((shard) => shard.owner === owner)
    held.leases = new Map(
      mine.map(({ shard, pool, epoch }) => [shard, { shard, pool, holder: owner, epoch, until }]),
    )
    await this.#giveUp(owner, held, pools, seen, answeredAt)
    await this.#claim(owner, held, pools, seen, until, context)
    this.#awaitEnds(seen)
    return [...held.leases.values()].sort((a, b) => a.shard - b.shard)
  }

  /** How the pool's shards should move, as of this beat. */
  #move(owner: string, held: Held, pool: string, seen: Beat, at: number) {
    const isDead = (other: Other) => this.#sightings.isDead(other, seen.now, at)
    return moveIn(pool, owner, held.leases.values(), seen, isDead)
  }

  async #giveUp(owner: string, held: Held, pools: readonly string[], seen: Beat, at: number): Promise<void> {
    const { database, send } = this.#ports
    const moves = pools
      .map((pool) => this.#move(owner, held, pool, seen, at))
      .filter(({ giveUp }) => giveUp > 0)
    if (moves.length === 0) return held.retirement.end()
    const busy = new Set<number>()
    for (const { mine, giveUp } of moves) {
      const given = await send('own.give_up', () => {
        const idle = database.atomic(() => giveUpIdle(database, mine, giveUp))
        if (idle.size > 0) database.tell('shards', null)
        return idle
      })
      for (const shard of given) held.leases.delete(shard)
      if (given.size > 0) held.retirement.handedOn()
      const left = mine.filter(({ shard }) => !given.has(shard)).slice(0, giveUp - given.size)
      for (const { shard } of left) busy.add(shard)
    }
    held.retirement.meet(busy, at)
    if (held.retirement.isOn) this.#ports.beatAgain(RETIRE_LOOK_MS)
  }

  async #claim(
    owner: string,
    held: Held,
    pools: readonly string[],
    seen: Beat,
    until: number,
    context: Context,
  ): Promise<void> {
    const at = this.#ports.clock.monotonic()
    const wanted = pools
      .map((pool) => ({ pool, count: this.#move(owner, held, pool, seen, at).claim }))
      .filter(({ count }) => count > 0)
    if (wanted.length === 0) return
    const still = seen.others.filter((other) => this.#sightings.isStill(other, at))
    // While the clock has just jumped, leases only seem to have ended.
    const dead = { still, byClock: !this.#sightings.hasJumped(at) }
    const claimed = await this.#ports.write('own.claim', context, (desk) => claim(desk, owner, wanted, dead))
    for (const { shard, epoch, pool } of claimed) {
      // What was written there while it was another's was not told here.
      this.#ports.lookout.lower(shard, 0)
      held.leases.set(shard, { shard, pool, holder: owner, epoch, until })
    }
  }

  /** A dead owner's lease may end long before the next beat: it is taken over then, not later. */
  #awaitEnds(seen: Beat): void {
    const inMs = overdueMs(seen, this.#ports.leaseMs)
    if (inMs !== null) this.#ports.beatAgain(inMs + 1)
  }

  async #disown(leases: readonly Lease[]): Promise<void> {
    if (leases.length === 0) return
    const { database, send } = this.#ports
    await send('disown', () => {
      database.atomic(() => disown(database, leases))
      database.tell('shards', null)
    })
    for (const { holder: owner } of leases) this.#held.delete(owner)
  }

  #heldBy(owner: string): Held {
    let held = this.#held.get(owner)
    if (held === undefined) {
      held = { leases: new Map(), retirement: new Retirement() }
      this.#held.set(owner, held)
    }
    return held
  }
}
