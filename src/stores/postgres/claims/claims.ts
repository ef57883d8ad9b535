import type { Serial } from '../../../alarm/index.ts'
import type { Clock } from '../../../time/index.ts'
import type { Claimed, ClaimRequest, InFlightBatch, Lease } from '../../index.ts'
import { earliestOf, type NextWakeCache, type Scan } from '../../sharded/index.ts'
import { type Database, isBroken, isLockTimeout, isStoreError } from '../connection/index.ts'
import type { WriteBatch } from '../rows/index.ts'
import { type ClaimResult, claimDue, nothing } from './claim.ts'
import { peek } from './due.ts'
import { FairLooks, type FairScan } from './fair-scan.ts'

/** What takes need from their store. */
export interface ClaimPorts {
  readonly database: Database
  readonly clock: Clock
  readonly lookout: NextWakeCache
  readonly write: <T>(work: (desk: WriteBatch) => Promise<T>) => Promise<T>
}

/** How long a take waits for a shard that an edit holds; it then goes on without that shard for a while. */
const LOCK_WAIT = `SET LOCAL lock_timeout = '100ms'`
const PASSED_OVER_MS = 200

/** Looks for what is due and takes it, in as few statements as can be: none where it is known that nothing is. */
export class Claims {
  readonly #ports: ClaimPorts
  readonly #passedOver = new Map<number, number>()
  readonly #fairLooks = new FairLooks()
  /** Flights under way; and shards where a take was not answered, so that nobody knows whether it recorded one. */
  readonly #flying = new Set<Serial>()
  readonly #unsure = new Set<number>()

  constructor(ports: ClaimPorts) {
    this.#ports = ports
  }

  /** Notes that flights have landed. */
  landed(flights: readonly InFlightBatch[]): void {
    for (const { id } of flights) this.#flying.delete(id)
  }

  /** `isTold` says that other processes' writes are heard of, so that what is known need not be asked for again. */
  async take(all: readonly Lease[], request: ClaimRequest, isTold: boolean): Promise<Claimed> {
    const leases = all.filter(({ shard }) => !this.#isPassedOver(shard))
    if (request.avoid !== undefined) return this.#takeApart(leases, request)
    const taken = await this.#ports.lookout.scan((look) => this.#takeLooking(look, leases, request, isTold))
    const isWhole = leases.length === all.length
    return isWhole
      ? taken
      : { ...taken, nextWakeAt: earlier(taken.nextWakeAt, request.context.now + PASSED_OVER_MS) }
  }

  async #takeLooking(
    look: Scan,
    leases: readonly Lease[],
    request: ClaimRequest,
    isTold: boolean,
  ): Promise<Claimed> {
    const { database, lookout } = this.#ports
    const { now } = request.context
    const known = isTold ? lookout.known(leases) : null
    const { firsts, lost: gone } =
      known === null
        ? await peek(database.session, leases, request.inFlight, lookout, now)
        : { firsts: known, lost: [] }
    const due = leases.filter(({ shard }) => (firsts.get(shard) ?? now + 1) <= now)
    if (due.length === 0) {
      if (known === null) lookout.keep(look, leases, firsts)
      return { ...nothing(earliestOf(firsts)), lost: gone }
    }
    const result = await this.#takeSurely(due, request)
    const until = this.#ports.clock.monotonic() + PASSED_OVER_MS
    for (const { shard } of result.busy) this.#passedOver.set(shard, until)
    const taken = await result.takings
    for (const { batch: flight } of taken) this.#flying.add(flight.id)
    for (const [shard, place] of result.passed) lookout.raise(look, shard, place)
    // What stood first may all have been in flight: that is no reason to look again and again.
    const left = new Map([...firsts].filter(([shard]) => !due.some((lease) => lease.shard === shard)))
    const next = new Map([...left, ...result.firsts])
    lookout.keep(look, leases, next)
    return { timers: taken, lost: [...gone, ...result.lost], more: result.more, nextWakeAt: earliestOf(next) }
  }

  /** Looks first, without a lock: mostly there is nobody whom the crowding tenants keep waiting. */
  async #takeApart(leases: readonly Lease[], request: ClaimRequest): Promise<Claimed> {
    if (leases.length === 0) return nothing(null)
    const fair = await this.#fairLooks.look(this.#ports.database.session, leases, request)
    if (fair.due.length === 0) return nothing(fair.nextWakeAt)
    const shards = new Set(fair.due.map(({ shard }) => shard))
    const due = leases.filter(({ shard }) => shards.has(shard))
    const { lost, more, firsts, takings } = await this.#takeSurely(due, request, fair)
    const taken = await takings
    for (const { batch: flight } of taken) this.#flying.add(flight.id)
    return { timers: taken, lost, more, nextWakeAt: earlier(fair.nextWakeAt, earliestOf(firsts)) }
  }

  /**
   * A commit that is not answered may have recorded a flight. Its timers are taken again; the record would be taken for
   * firing by every cancel, and keep its shard from changing hands.
   */
  async #takeSurely(
    leases: readonly Lease[],
    request: ClaimRequest,
    fair: FairScan | null = null,
  ): Promise<ClaimResult> {
    try {
      const result = await this.#takeFrom(leases, request, fair)
      const left = new Set([...result.busy, ...result.lost].map(({ shard }) => shard))
      for (const { shard } of leases) if (!left.has(shard)) this.#unsure.delete(shard)
      return result
    } catch (thrown) {
      if (isBroken(thrown)) for (const { shard } of leases) this.#unsure.add(shard)
      throw thrown
    }
  }

  /** Waits a little for shards that an edit holds; then without them; and row by row where one cannot be written. */
  async #takeFrom(
    leases: readonly Lease[],
    request: ClaimRequest,
    fair: FairScan | null,
  ): Promise<ClaimResult> {
    const isUnsure = leases.some(({ shard }) => this.#unsure.has(shard))
    const known = isUnsure ? [...this.#flying] : null
    const attempt = (isApart: boolean, passesOver: boolean) =>
      this.#ports.write((desk) => {
        if (!passesOver) desk.session.send(LOCK_WAIT)
        const { lookout } = this.#ports
        const work = { leases, request, lookout, fair, known }
        return claimDue(desk, { ...work, isApart, passesOver })
      })
    try {
      return await attempt(false, false)
    } catch (thrown) {
      if (isLockTimeout(thrown)) return attempt(false, true)
      if (isStoreError(thrown)) throw thrown
      return attempt(true, true)
    }
  }

  #isPassedOver(shard: number): boolean {
    const until = this.#passedOver.get(shard)
    if (until === undefined) return false
    if (until > this.#ports.clock.monotonic()) return true
    this.#passedOver.delete(shard)
    return false
  }
}

function earlier(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}
