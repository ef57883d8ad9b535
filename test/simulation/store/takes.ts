import { type Serial, stepped } from '../../../src/alarm/index.ts'
import type { Claimed, ClaimRequest, InFlightBatch, Lease } from '../../../src/stores/index.ts'
import { earliestOf, NextWakeCache, type Scan } from '../../../src/stores/sharded/next-wake-cache.ts'
import { type Connection, isBroken } from './connection.ts'
import type { Desk } from './desk.ts'
import { nextWakeAt, peek, type TakeResult, take } from './take.ts'

type Write = <T>(work: (desk: Desk) => T) => Promise<T>

/** Everything is looked at. */
const UNBOUNDED = { lowerBound: () => ({ wakeAt: 0, id: 0 }) }

/**
 * Looks for what is due and takes it: no statement where it is known that nothing is, two where something may be. What is
 * known without asking is kept by the lookout of the PostgreSQL store, and used as it is used there.
 */
export class Takes {
  readonly lookout = new NextWakeCache()
  readonly #connection: Connection
  /** Flights under way; and shards where a take was not answered, so that nobody knows whether it recorded one. */
  readonly #flying = new Set<Serial>()
  readonly #unsure = new Set<number>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Notes that flights have landed. */
  landed(flights: readonly InFlightBatch[]): void {
    for (const { id } of flights) this.#flying.delete(id)
  }

  /** `isTold` says that other processes' writes are heard of, so that what is known need not be asked for again. */
  take(leases: readonly Lease[], request: ClaimRequest, isTold: boolean, write: Write): Promise<Claimed> {
    if (request.avoid !== undefined) return this.#takeApart(leases, request, write)
    return this.lookout.scan((look) => this.#takeLooking(look, leases, request, isTold, write))
  }

  async #takeLooking(
    look: Scan,
    leases: readonly Lease[],
    request: ClaimRequest,
    isTold: boolean,
    write: Write,
  ): Promise<Claimed> {
    const { now } = request.context
    const known = isTold ? this.lookout.known(leases) : null
    const { firsts, lost: gone } =
      known === null ? await this.#peek(leases, now) : { firsts: known, lost: [] }
    const due = leases.filter(({ shard }) => (firsts.get(shard) ?? now + 1) <= now)
    if (due.length === 0) {
      if (known === null) this.lookout.keep(look, leases, firsts)
      return { timers: [], lost: gone, more: false, nextWakeAt: earliestOf(firsts) }
    }
    const result = await this.#takeSurely(due, request, write)
    for (const [shard, place] of result.passed) this.lookout.raise(look, shard, place)
    const left = [...firsts].filter(([shard]) => !due.some((lease) => lease.shard === shard))
    const next = new Map([...left, ...result.firsts])
    this.lookout.keep(look, leases, next)
    const { takings, lost, more } = result
    return { timers: takings, lost: [...gone, ...lost], more, nextWakeAt: earliestOf(next) }
  }

  async #peek(leases: readonly Lease[], now: number) {
    const { database } = this.#connection
    const { lookout } = this
    const { firsts, lost } = await lookout.scan(async (look) => {
      const seen = await this.#connection.send('take.look', () => peek(database, leases, lookout))
      for (const [shard, first] of seen.firsts) {
        // Just before the first; up to now where there is none.
        const none = { wakeAt: Math.max(now, lookout.lowerBound(shard).wakeAt), id: 0 }
        lookout.raise(
          look,
          shard,
          first === null ? none : { wakeAt: first.wakeAt, id: stepped(first.id, -1) },
        )
      }
      return seen
    })
    const wakes = [...firsts].flatMap(([shard, first]) =>
      first === null ? [] : [[shard, first.wakeAt] as const],
    )
    return { firsts: new Map(wakes), lost }
  }

  /** What other tenants than the crowding ones are due. */
  async #takeApart(leases: readonly Lease[], request: ClaimRequest, write: Write): Promise<Claimed> {
    const { database } = this.#connection
    const next = () => nextWakeAt(database, leases, request.inFlight, request)
    const first = await this.#connection.send('take.look_apart', next)
    if (first === null || first > request.context.now)
      return { timers: [], lost: [], more: false, nextWakeAt: first }
    const { takings, lost, more } = await this.#takeSurely(leases, request, write)
    const taken = new Set(takings.map(({ timer }) => timer.id))
    const held = {
      size: request.inFlight.size + taken.size,
      has: (id: Serial, version: number) => taken.has(id) || request.inFlight.has(id, version),
    }
    const left = await this.#connection.send('take.look_apart', () =>
      nextWakeAt(database, leases, held, request),
    )
    return { timers: takings, lost, more, nextWakeAt: left }
  }

  /**
   * A commit that is not answered may have recorded a flight. Its timers are taken again; the record would be taken for
   * firing by every cancel, and keep its shard from changing hands.
   */
  async #takeSurely(leases: readonly Lease[], request: ClaimRequest, write: Write): Promise<TakeResult> {
    try {
      const result = await write((desk) => this.#takeIn(desk, leases, request))
      for (const lease of leases) if (!result.lost.includes(lease)) this.#unsure.delete(lease.shard)
      for (const { batch: flight } of result.takings) this.#flying.add(flight.id)
      return result
    } catch (thrown) {
      if (isBroken(thrown)) for (const { shard } of leases) this.#unsure.add(shard)
      throw thrown
    }
  }

  #takeIn(desk: Desk, leases: readonly Lease[], request: ClaimRequest): TakeResult {
    const { database } = desk
    const unsure = leases.filter((lease) => this.#unsure.has(lease.shard) && database.isOwn(lease))
    for (const { key } of unsure.flatMap(({ shard }) => [...database.tables.flightsOfShard.in(shard)]))
      if (!this.#flying.has(key)) database.tables.flights.remove(key)
    return take(desk, leases, request, request.avoid === undefined ? this.lookout : UNBOUNDED)
  }
}
