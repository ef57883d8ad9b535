import type { Flight, Lease, Taken, TakeRequest } from '../../../src/stores/index.ts'
import { type Connection, isBroken } from './connection.ts'
import type { Desk } from './desk.ts'
import { look, take } from './take.ts'

type Write = <T>(work: (desk: Desk) => T) => Promise<T>

/** Looks for what is due and takes it: one statement where nothing is, two where something is. */
export class Takes {
  readonly #connection: Connection
  /** Flights under way; and shards where a take was not answered, so that nobody knows whether it recorded one. */
  readonly #flying = new Set<number>()
  readonly #unsure = new Set<number>()
  /** What the last look at everything has found to come next; undefined before there was one. */
  #known: number | null | undefined

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Notes that flights have landed. */
  landed(flights: readonly Flight[]): void {
    for (const { id } of flights) this.#flying.delete(id)
  }

  /** Whether something wakes before all that is known of. */
  isNews(firsts: ReadonlyMap<number, number | null>): boolean {
    const known = this.#known
    if (known === undefined) return false
    return [...firsts.values()].some((first) => first !== null && (known === null || first < known))
  }

  async take(leases: readonly Lease[], request: TakeRequest, write: Write): Promise<Taken> {
    const taken = await this.#take(leases, request, write)
    if (request.avoid === undefined) this.#known = taken.nextWakeAt
    return taken
  }

  async #take(leases: readonly Lease[], request: TakeRequest, write: Write): Promise<Taken> {
    const { database } = this.#connection
    const seen = await this.#connection.send('take.look', () => look(database, leases, request))
    if (seen.nextWakeAt === null || seen.nextWakeAt > request.context.now) return seen
    try {
      const taken = await write((desk) => this.#takeIn(desk, leases, request))
      for (const { shard } of leases) this.#unsure.delete(shard)
      for (const { flight } of taken.takings) this.#flying.add(flight.id)
      return taken
    } catch (thrown) {
      if (isBroken(thrown)) for (const { shard } of leases) this.#unsure.add(shard)
      throw thrown
    }
  }

  /**
   * A commit that is not answered may have recorded a flight. Its timers are taken again; the record would be taken for
   * firing by every cancel, and keep its shard from changing hands.
   */
  #takeIn(desk: Desk, leases: readonly Lease[], request: TakeRequest): Taken {
    const { database } = desk
    const unsure = leases.filter((lease) => this.#unsure.has(lease.shard) && database.isOwn(lease))
    for (const { key } of unsure.flatMap(({ shard }) => [...database.tables.flightsOfShard.in(shard)]))
      if (!this.#flying.has(key)) database.tables.flights.remove(key)
    return take(desk, leases, request)
  }
}
