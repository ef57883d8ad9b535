import type { Context } from '../../../src/alarm/index.ts'
import type { Lease } from '../../../src/stores/index.ts'
import { type Beat, Sightings } from '../../../src/stores/postgres/heartbeat.ts'
import type { Lookout } from '../../../src/stores/postgres/lookout.ts'
import { spread } from '../../../src/stores/postgres/spread.ts'
import type { Clock } from '../../../src/time/index.ts'
import type { SimulatedDatabase } from './database.ts'
import type { Desk } from './desk.ts'
import { beat, claim, disown, giveUpIdle } from './owners.ts'

/** What ownership needs from its store. */
export interface OwnershipPorts {
  readonly database: SimulatedDatabase
  readonly clock: Clock
  readonly leaseMs: number
  readonly lookout: Lookout
  readonly send: <T>(name: string, run: () => T) => Promise<T>
  readonly write: <T>(name: string, context: Context, work: (desk: Desk) => T) => Promise<T>
  /** Told of each beat, and between which moments of the monotonic clock it was answered. */
  readonly onBeat: (beat: Beat, sentAt: number, answeredAt: number) => void
  /** Asks for another beat so many milliseconds from now: something will have become free. */
  readonly beatAgain: (inMs: number) => void
}

/** How long a busy shard is kept from taking more, so that it can be handed on, and how long it is left alone after that. */
const RETIRE_MS = 500
const RETIRE_AGAIN_MS = 5_000
const RETIRE_LOOK_MS = 50

/** One owner's state; a process is one owner. */
interface Held {
  leases: Map<number, Lease>
  retiring: ReadonlySet<number>
  retiringSince: number
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
    return this.#held.get(lease.owner)?.retiring.has(lease.shard) === true
  }

  /** Whether this process runs the shard's clock. */
  holds(shard: number): boolean {
    return [...this.#held.values()].some(({ leases }) => leases.has(shard))
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
    const seen = await lookout.during(async (look) => {
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
    held.leases = new Map(mine.map(({ shard, pool, epoch }) => [shard, { shard, pool, owner, epoch, until }]))
    await this.#giveUp(owner, held, pools, seen, answeredAt)
    await this.#claim(owner, held, pools, seen, until, context)
    this.#awaitEnds(seen)
    return [...held.leases.values()].sort((a, b) => a.shard - b.shard)
  }

  /** How the pool's shards should move, as of this beat. */
  #move(owner: string, held: Held, pool: string, seen: Beat, at: number) {
    const living = seen.others.filter((other) => !this.#sightings.isDead(other, seen.now, at))
    const names = new Set(living.map((other) => other.owner))
    const shards = seen.shards.filter((shard) => shard.pool === pool)
    const mine = [...held.leases.values()].filter((lease) => lease.pool === pool)
    const own = new Set(mine.map(({ shard }) => shard))
    const isFree = (holder: string | null) => holder === null || !names.has(holder)
    const free = shards.filter((each) => !own.has(each.shard) && isFree(each.owner))
    const serving = living.filter(({ pools }) => pools.includes(pool))
    const rank = serving.filter((other) => other.owner < owner).length
    const counts = { shards: shards.length, mine: mine.length, free: free.length }
    return { mine, ...spread({ ...counts, live: 1 + serving.length, rank }) }
  }

  async #giveUp(owner: string, held: Held, pools: readonly string[], seen: Beat, at: number): Promise<void> {
    const { database, send } = this.#ports
    const retiring = new Set<number>()
    for (const pool of pools) {
      const { mine, giveUp } = this.#move(owner, held, pool, seen, at)
      if (giveUp === 0) continue
      const given = await send('own.give_up', () => {
        const idle = database.atomic(() => giveUpIdle(database, mine, giveUp))
        if (idle.size > 0) database.tell('shards', null)
        return idle
      })
      for (const shard of given) held.leases.delete(shard)
      const busy = mine.filter(({ shard }) => !given.has(shard)).slice(0, giveUp - given.size)
      for (const { shard } of busy) retiring.add(shard)
    }
    this.#retire(held, retiring, at)
  }

  /** Those with nothing in flight change hands at once; the rest are kept from taking more for a moment. */
  #retire(held: Held, retiring: ReadonlySet<number>, at: number): void {
    if (retiring.size === 0) held.retiring = retiring
    else if (held.retiring.size === 0 && at - held.retiringSince >= RETIRE_AGAIN_MS) {
      held.retiring = retiring
      held.retiringSince = at
    } else if (at - held.retiringSince >= RETIRE_MS) held.retiring = new Set()
    if (held.retiring.size > 0) this.#ports.beatAgain(RETIRE_LOOK_MS)
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
    for (const { shard, epoch, pool } of claimed) held.leases.set(shard, { shard, pool, owner, epoch, until })
  }

  /** A dead owner's lease may end long before the next beat: it is taken over then, not later. */
  #awaitEnds(seen: Beat): void {
    const holders = new Set(seen.shards.flatMap(({ owner }) => owner ?? []))
    // One that lives has renewed it less than half a lease ago.
    const leftMs = seen.others
      .filter(({ owner }) => holders.has(owner))
      .map(({ leaseUntil }) => leaseUntil - seen.now)
      .filter((left) => left > 0 && left < this.#ports.leaseMs / 2)
    if (leftMs.length > 0) this.#ports.beatAgain(Math.min(...leftMs) + 1)
  }

  async #disown(leases: readonly Lease[]): Promise<void> {
    if (leases.length === 0) return
    const { database, send } = this.#ports
    await send('disown', () => {
      database.atomic(() => disown(database, leases))
      database.tell('shards', null)
    })
    for (const { owner } of leases) this.#held.delete(owner)
  }

  #heldBy(owner: string): Held {
    let held = this.#held.get(owner)
    if (held === undefined) {
      held = { leases: new Map(), retiring: new Set(), retiringSince: Number.NEGATIVE_INFINITY }
      this.#held.set(owner, held)
    }
    return held
  }
}
