import type { Context } from '../../../alarm/index.ts'
import type { Clock } from '../../../time/index.ts'
import type { Lease } from '../../index.ts'
import {
  type Beat,
  beatOf,
  moveIn,
  type NextWakeCache,
  type Other,
  overdueMs,
  RECENT_MS,
  Retirement,
  type SeenShard,
  Sightings,
} from '../../sharded/index.ts'
import { recoverFlights } from '../claims/index.ts'
import { type Bindable, handlerName, type Session } from '../connection/index.ts'
import type { WriteBatch } from '../rows/index.ts'
import * as sql from '../sql/index.ts'

/** What ownership needs from its store. */
export interface OwnershipPorts {
  readonly clock: Clock
  readonly leaseMs: number
  /** The moment that is bound where the database's clock is not the authority; else null. */
  readonly moment: () => number | null
  /** Sends the heartbeat, on the connection that listens where there is one. */
  readonly beat: (...values: Bindable[]) => Promise<readonly (readonly unknown[])[]>
  readonly session: Session
  readonly transaction: <T>(work: (desk: WriteBatch) => Promise<T>) => Promise<T>
  readonly know: (pools: readonly string[]) => Promise<void>
  readonly lookout: NextWakeCache
  /** Told of each beat, and between which moments of the monotonic clock it was answered. */
  readonly onBeat: (beat: Beat, sentAt: number, answeredAt: number) => void
  /** Tells the others that shards are free. */
  readonly tellFree: (session: Session) => void
  /** Asks for another beat so many milliseconds from now: something will have become free. */
  readonly beatAgain: (inMs: number) => void
}

const RETIRE_LOOK_MS = 50
const HELD_LOOK_MS = 250

/** A beat that took longer than this is followed by so many that look only at what has woken lately, or will. */
const SLOW_BEAT_MS = 100
const BOUNDED_BEATS = 15

/** One owner's state; a process is one owner. */
interface Held {
  lost: number | null
  leases: Map<number, Lease>
  readonly retirement: Retirement
}

/** Which shards this process owns, and how it comes to own more, or fewer (promise: fenced). */
export class Ownership {
  readonly #ports: OwnershipPorts
  readonly #held = new Map<string, Held>()
  readonly #sightings: Sightings
  #owning: Promise<unknown> = Promise.resolve()
  #boundedBeats = 0

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

  /**
   * Whether this process runs the shard's clock, so that nobody need be told of what wakes there. Not when its lease has
   * ended: somebody else may run it by now.
   */
  holds(shard: number): boolean {
    const now = this.#ports.clock.monotonic()
    for (const { leases } of this.#held.values()) if ((leases.get(shard)?.until ?? 0) > now) return true
    return false
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#owning.then(work)
    this.#owning = turn.catch(() => {})
    return turn
  }

  async #own(owner: string, pools: readonly string[], context: Context): Promise<Lease[]> {
    const { clock, leaseMs, moment, beat: send } = this.#ports
    await this.#ports.know(pools)
    const held = this.#heldBy(owner)
    const sentAt = clock.monotonic()
    const countsFrom = Math.floor(Math.random() * 2 ** 48)
    const floor = this.#floor(context)
    const beat = await this.#ports.lookout.scan(async (look) => {
      const heard = beatOf(await send(owner, pools, leaseMs, moment(), countsFrom, floor))
      for (const [shard, first] of heard.firsts)
        this.#ports.lookout.raise(look, shard, { wakeAt: first ?? heard.now, id: 0 }, floor === 0)
      return heard
    })
    const answeredAt = clock.monotonic()
    this.#pace(floor, answeredAt - sentAt)
    this.#sightings.look(beat, sentAt, answeredAt)
    this.#ports.onBeat(beat, sentAt, answeredAt)
    // Counted from before the beat was sent: never later than the database counts (promise: fenced).
    const until = sentAt + leaseMs
    held.leases = new Map(
      (await this.#mine(owner, held, beat)).map(({ shard, epoch, pool }) => {
        return [shard, { shard, pool, holder: owner, epoch, until }]
      }),
    )
    await this.#giveUp(owner, held, pools, beat, answeredAt)
    await this.#claim(owner, held, pools, beat, until, context)
    this.#awaitEnds(beat)
    return [...held.leases.values()].sort((a, b) => a.shard - b.shard)
  }

  /**
   * From where on the beat looks. Everything is looked at as long as that is quick; while a held snapshot keeps what was
   * fired in the way (hazard 11), only every so often: what was written and not told of lies ahead, or just behind.
   */
  #floor({ now }: Context): number {
    this.#boundedBeats -= 1
    if (this.#boundedBeats >= 0) return Math.max(0, now - RECENT_MS)
    // Until it has been quick: one that is not answered in time must not be sent again and again.
    this.#boundedBeats = BOUNDED_BEATS
    return 0
  }

  #pace(floor: number, tookMs: number): void {
    if (floor === 0 && tookMs <= SLOW_BEAT_MS) this.#boundedBeats = 0
  }

  /**
   * What is still this process's own. The beat tells, unless somebody took something over while it was under way: then
   * its own view is from before that, and a statement that begins now is asked.
   */
  async #mine(owner: string, held: Held, beat: Beat): Promise<Pick<SeenShard, 'shard' | 'epoch' | 'pool'>[]> {
    const isCurrent = held.lost === beat.lost
    held.lost = beat.lost
    if (isCurrent) return beat.shards.filter((seen) => seen.owner === owner)
    const known = new Set(beat.shards.map(({ pool }) => pool))
    const rows = await this.#ports.session.rows(sql.shardsOfOwner, owner)
    return rows
      .map(([shard, epoch, pool]) => ({ shard, epoch, pool }) as Pick<SeenShard, 'shard' | 'epoch' | 'pool'>)
      .filter(({ pool }) => known.has(pool))
  }

  /** How the pool's shards should move, as of this beat. */
  #move(owner: string, held: Held, pool: string, beat: Beat, at: number) {
    const isDead = (other: Other) => this.#sightings.isDead(other, beat.now, at)
    return moveIn(pool, owner, held.leases.values(), beat, isDead)
  }

  async #giveUp(owner: string, held: Held, pools: readonly string[], beat: Beat, at: number): Promise<void> {
    const surplus = pools.flatMap((pool) => {
      const { mine, giveUp } = this.#move(owner, held, pool, beat, at)
      return giveUp > 0 ? [{ mine, giveUp }] : []
    })
    if (surplus.length === 0) {
      held.retirement.end()
      return
    }
    const busy = new Set<number>()
    for (const { mine, giveUp } of surplus) {
      const given = await this.#giveUpIdle(owner, mine, giveUp)
      for (const shard of given) held.leases.delete(shard)
      if (given.size > 0) held.retirement.handedOn()
      const left = mine.filter(({ shard }) => !given.has(shard)).slice(0, giveUp - given.size)
      for (const { shard } of left) busy.add(shard)
    }
    // Those with nothing in flight change hands at once; the rest are kept from taking more for a moment.
    held.retirement.meet(busy, at)
    if (held.retirement.isOn) this.#ports.beatAgain(RETIRE_LOOK_MS)
  }

  #giveUpIdle(owner: string, mine: readonly Lease[], count: number): Promise<ReadonlySet<number>> {
    return this.#ports.transaction(async ({ session }) => {
      const [shards, epochs] = [mine.map(({ shard }) => shard), mine.map(({ epoch }) => epoch)]
      const idle = (await session.rows(sql.lockIdleShards, shards, epochs, owner)).map(
        ([shard]) => shard as number,
      )
      const rows = await session.rows(sql.giveUpShards, idle, count)
      if (rows.length > 0) this.#ports.tellFree(session)
      return new Set(rows.map(([shard]) => shard as number))
    })
  }

  async #claim(
    owner: string,
    held: Held,
    pools: readonly string[],
    beat: Beat,
    until: number,
    context: Context,
  ): Promise<void> {
    const at = this.#ports.clock.monotonic()
    const wanted = pools
      .map((pool) => ({ pool, count: this.#move(owner, held, pool, beat, at).claim }))
      .filter(({ count }) => count > 0)
    if (wanted.length === 0) return
    const claimed = await this.#ports.transaction((desk) => this.#claimIn(desk, owner, wanted, beat, context))
    for (const { shard, epoch, pool } of claimed) {
      // What was written there while it was another's was not told here.
      this.#ports.lookout.lower(shard, 0)
      held.leases.set(shard, { shard, pool, holder: owner, epoch, until })
    }
    const missed = wanted.reduce((sum, { count }) => sum + count, 0) - claimed.length
    // What somebody held at that very moment is free soon.
    if (missed > 0) this.#ports.beatAgain(HELD_LOOK_MS)
  }

  async #claimIn(
    desk: WriteBatch,
    owner: string,
    wanted: readonly { readonly pool: string; readonly count: number }[],
    beat: Beat,
    context: Context,
  ): Promise<Pick<SeenShard, 'shard' | 'epoch' | 'pool'>[]> {
    const { session } = desk
    // What belongs to somebody of whom there is no row is nobody's to take over. The next beat makes the row anew.
    if ((await session.row(sql.stayOwner, owner)) === undefined) return []
    const at = this.#ports.clock.monotonic()
    const still = beat.others.filter((other) => this.#sightings.isStill(other, at))
    // While the clock has just jumped, leases only seem to have ended.
    const moment = this.#sightings.hasJumped(at) ? 0 : this.#ports.moment()
    const buried = await session.rows(
      sql.buryOwners,
      owner,
      moment,
      still.map((other) => other.owner),
      still.map(({ beats }) => beats),
    )
    const dead = buried.map(([name]) => name as string)
    const claimed: Pick<SeenShard, 'shard' | 'epoch' | 'pool'>[] = []
    for (const { pool, count } of wanted) {
      const rows = await session.rows(sql.acquireShards, owner, pool, dead, count)
      for (const [shard, epoch] of rows)
        claimed.push({ shard: shard as number, epoch: epoch as number, pool })
    }
    await recoverFlights(
      desk,
      claimed.map(({ shard }) => shard),
      context,
    )
    await desk.flush()
    if (dead.length > 0) {
      session.send(sql.endHandlers, dead.map(handlerName))
      session.send(sql.forgetOwners, dead)
    }
    return claimed
  }

  /** A dead owner's lease may end long before the next beat: it is taken over then, not later. */
  #awaitEnds(beat: Beat): void {
    const inMs = overdueMs(beat, this.#ports.leaseMs)
    if (inMs !== null) this.#ports.beatAgain(inMs + 1)
  }

  async #disown(leases: readonly Lease[]): Promise<void> {
    if (leases.length === 0) return
    const owners = [...new Set(leases.map(({ holder: owner }) => owner))]
    await this.#ports.transaction(async ({ session }) => {
      session.send(
        sql.releaseShards,
        leases.map(({ shard }) => shard),
        leases.map(({ epoch }) => epoch),
      )
      // Whoever claims next must not count this one among those that live.
      for (const owner of owners) {
        session.send(sql.leavePools, owner)
        session.send(sql.leave, owner)
      }
      this.#ports.tellFree(session)
    })
    for (const owner of owners) this.#held.delete(owner)
  }

  #heldBy(owner: string): Held {
    let held = this.#held.get(owner)
    if (held === undefined) {
      held = { lost: null, leases: new Map(), retirement: new Retirement() }
      this.#held.set(owner, held)
    }
    return held
  }
}
