import { type Serial, stepped } from '../../alarm/index.ts'
import type { Clock } from '../../time/index.ts'
import type { Claimed, ClaimedTimer, ClaimRequest, InFlightBatch, InFlightTimers, Lease } from '../index.ts'
import {
  earliestOf,
  lowerTo,
  type NextWakeCache,
  type NextWakes,
  type Position,
  type Scan,
} from './next-wake-cache.ts'

/** The statements of a claim. */
export interface ClaimStatements {
  /**
   * The next timer of each shard that is still owned under its lease, from its lower bound on. A missing shard is
   * lost. Writes and locks nothing.
   */
  peek(leases: readonly Lease[], bounds: LowerBounds): Promise<readonly Peeked[]>
  /** The next timers of each shard from its lower bound on, up to `count` of each. */
  nextTimers(shards: readonly number[], bounds: LowerBounds, count: number): Promise<readonly ScannedTimer[]>
  /** Finds due timers of tenants and owners that are not avoided. Locks nothing. */
  fairScan(leases: readonly Lease[], request: ClaimRequest): Promise<FairScan>
  /**
   * Claims due timers in one transaction: locks the shards and proves ownership, reads what is due, decides, and
   * records what is to be delivered as in flight.
   */
  claimDue(work: ClaimWork): Promise<ClaimResult>
  /** Whether the connection broke, so that it is unknown whether the statement ran. */
  isBroken(thrown: unknown): boolean
  /** Whether a lock could not be acquired in time. */
  isLockTimeout(thrown: unknown): boolean
  /** Whether the error is the store's, not that of one row. */
  isStoreError(thrown: unknown): boolean
}

/** The position from which each shard is scanned: nothing waits below it. */
export type LowerBounds = Pick<NextWakeCache, 'lowerBound' | 'lowerBounds'>

/** A timer in the order of the due index. */
export interface ScannedTimer extends Position {
  readonly shard: number
  readonly version: number
}

/** The next timer of a shard; null if nothing waits. */
export interface Peeked {
  readonly shard: number
  readonly next: ScannedTimer | null
}

/** The due timers of owners that are not avoided, and when they are due next. */
export interface FairScan {
  readonly due: readonly { readonly id: Serial; readonly shard: number }[]
  /** Whether more is due. */
  readonly more: boolean
  readonly nextWakeAt: number | null
}

/** A claim to run. */
export interface ClaimWork {
  /** The leases of the shards with due timers. */
  readonly leases: readonly Lease[]
  readonly request: ClaimRequest
  readonly bounds: LowerBounds
  /** Set if only these are claimed: due timers of tenants that another one crowds out. */
  readonly fair: FairScan | null
  /** Row by row, each in a savepoint: used when a batch could not be written. */
  readonly oneByOne: boolean
  /** Whether to skip shards that another transaction has locked, instead of waiting shortly. */
  readonly passesOver: boolean
  /** The batches that are really in flight, if one may have been recorded without an answer; else null. */
  readonly knownBatches: readonly Serial[] | null
}

/** The result of a claim. */
export interface ClaimResult {
  readonly timers: readonly ClaimedTimer[]
  readonly lost: readonly Lease[]
  /** Shards that another transaction has locked. */
  readonly busy: readonly Lease[]
  /** Whether more is due than was claimed. */
  readonly more: boolean
  /** Whether a due timer was skipped because an open transaction has locked it. */
  readonly passedLocked: boolean
  /** The next wake after now, by shard. */
  readonly next: NextWakes
  /** The earliest wake that the claim itself wrote, by shard. */
  readonly written: NextWakes
  /** All rows that were scanned, by shard and in order, including those in flight. */
  readonly scanned: ReadonlyMap<number, readonly ScannedTimer[]>
}

/** How long a shard that an edit has locked is left out of claims. */
const BUSY_MS = 200
/** How soon to scan again for what an open transaction has locked. */
const LOCKED_AGAIN_MS = 50

/** The result of peeking at shards. */
interface Peek {
  /** The next timer of each shard that has one. */
  readonly next: readonly ScannedTimer[]
  readonly lost: readonly Lease[]
}

/** Finds due timers and claims them, in as few statements as possible: none if it is known that nothing is due. */
export class Claims {
  readonly #statements: ClaimStatements
  readonly #clock: Clock
  readonly #nextWakes: NextWakeCache
  /** Until when locked shards are left out, by the monotonic clock. */
  readonly #busyUntil = new Map<number, number>()
  /** Batches in flight; and shards with an unanswered claim, which may have recorded a batch. */
  readonly #inFlight = new Set<Serial>()
  readonly #uncertain = new Set<number>()

  constructor(statements: ClaimStatements, clock: Clock, nextWakes: NextWakeCache) {
    this.#statements = statements
    this.#clock = clock
    this.#nextWakes = nextWakes
  }

  /** Notes that batches are settled. */
  acknowledged(batches: readonly InFlightBatch[]): void {
    for (const { id } of batches) this.#inFlight.delete(id)
  }

  /** `isNotified` says that this process is notified of what others write, so that its cache can be trusted. */
  async claim(all: readonly Lease[], request: ClaimRequest, isNotified: boolean): Promise<Claimed> {
    const leases = all.filter(({ shard }) => !this.#isBusy(shard))
    if (request.skipTenants !== undefined) return this.#claimFairly(leases, request)
    const claimed = await this.#nextWakes.scan((scan) => this.#claimDue(scan, leases, request, isNotified))
    if (leases.length === all.length) return claimed
    return { ...claimed, nextWakeAt: earlier(claimed.nextWakeAt, request.context.now + BUSY_MS) }
  }

  /** The earliest wake that is not in flight. */
  async nextWakeAt(leases: readonly Lease[], inFlight: InFlightTimers, now: number): Promise<number | null> {
    const isFree = ({ id, version }: ScannedTimer) => !inFlight.has(id, version)
    const { next } = await this.#peek(leases, now)
    const free = next.filter(isFree)
    // If the first timer of a shard is in flight, there may be more behind it.
    const hidden = next.filter((timer) => !isFree(timer)).map(({ shard }) => shard)
    if (hidden.length > 0)
      free.push(
        ...(await this.#statements.nextTimers(hidden, this.#nextWakes, inFlight.size + 1)).filter(isFree),
      )
    return free.length === 0 ? null : Math.min(...free.map(({ wakeAt }) => wakeAt))
  }

  async #claimDue(
    scan: Scan,
    leases: readonly Lease[],
    request: ClaimRequest,
    isNotified: boolean,
  ): Promise<Claimed> {
    const { now } = request.context
    const known = isNotified ? this.#nextWakes.known(leases) : null
    const peeked = known === null ? await this.#peek(leases, now) : null
    const firsts = known ?? new Map(peeked!.next.map(({ shard, wakeAt }) => [shard, wakeAt]))
    const gone = peeked?.lost ?? []
    const due = leases.filter(({ shard }) => (firsts.get(shard) ?? now + 1) <= now)
    if (due.length === 0) {
      if (known === null) this.#nextWakes.keep(scan, leases, firsts)
      return { ...nothing(earliestOf(firsts)), lost: gone }
    }
    const result = await this.#claimCertainly(due, request)
    const until = this.#clock.monotonic() + BUSY_MS
    for (const { shard } of result.busy) this.#busyUntil.set(shard, until)
    for (const [shard, position] of passed(result, request.inFlight))
      this.#nextWakes.raiseLowerBound(scan, shard, position)
    // The first timers may all have been in flight: that is no reason to scan again and again.
    const left = [...firsts].filter(([shard]) => !due.some((lease) => lease.shard === shard))
    const next = new Map([...left, ...scansAfter(due, result, now)])
    this.#nextWakes.keep(scan, leases, next)
    const { timers, lost, more } = result
    return { timers, lost: [...gone, ...lost], more, nextWakeAt: earliestOf(next) }
  }

  /** Reads when each shard wakes next, and raises the lower bounds up to there. */
  async #peek(leases: readonly Lease[], now: number): Promise<Peek> {
    if (leases.length === 0) return { next: [], lost: [] }
    const peeked = await this.#nextWakes.scan(async (scan) => {
      const found = await this.#statements.peek(leases, this.#nextWakes)
      for (const { shard, next } of found) {
        // Just before the first timer; up to now if there is none.
        const none = { wakeAt: Math.max(now, this.#nextWakes.lowerBound(shard).wakeAt), id: 0 }
        this.#nextWakes.raiseLowerBound(
          scan,
          shard,
          next === null ? none : { wakeAt: next.wakeAt, id: stepped(next.id, -1) },
        )
      }
      return found
    })
    const own = new Set(peeked.map(({ shard }) => shard))
    return {
      next: peeked.flatMap(({ next }) => next ?? []),
      lost: leases.filter(({ shard }) => !own.has(shard)),
    }
  }

  /** Scans first, without a lock: usually the owners behind an avoided tenant have nothing due. */
  async #claimFairly(leases: readonly Lease[], request: ClaimRequest): Promise<Claimed> {
    if (leases.length === 0) return nothing(null)
    const fair = await this.#statements.fairScan(leases, request)
    if (fair.due.length === 0) return nothing(fair.nextWakeAt)
    const shards = new Set(fair.due.map(({ shard }) => shard))
    const due = leases.filter(({ shard }) => shards.has(shard))
    const result = await this.#claimCertainly(due, request, fair)
    const next = earliestOf(scansAfter(due, result, request.context.now))
    const { timers, lost, more } = result
    return { timers, lost, more, nextWakeAt: earlier(fair.nextWakeAt, next) }
  }

  /**
   * An unanswered commit may have recorded a batch as in flight. Its timers are claimed again. The record must be
   * removed: otherwise every cancel would answer that they are firing, and the shard could never be released.
   */
  async #claimCertainly(
    leases: readonly Lease[],
    request: ClaimRequest,
    fair: FairScan | null = null,
  ): Promise<ClaimResult> {
    try {
      const result = await this.#claimFrom(leases, request, fair)
      const left = new Set([...result.busy, ...result.lost].map(({ shard }) => shard))
      for (const { shard } of leases) if (!left.has(shard)) this.#uncertain.delete(shard)
      for (const { batch } of result.timers) this.#inFlight.add(batch.id)
      return result
    } catch (thrown) {
      if (this.#statements.isBroken(thrown)) for (const { shard } of leases) this.#uncertain.add(shard)
      throw thrown
    }
  }

  /**
   * Waits shortly for shards that an edit has locked, then goes on without them; row by row if one cannot be written.
   */
  async #claimFrom(
    leases: readonly Lease[],
    request: ClaimRequest,
    fair: FairScan | null,
  ): Promise<ClaimResult> {
    const [statements, bounds] = [this.#statements, this.#nextWakes]
    const isUncertain = leases.some(({ shard }) => this.#uncertain.has(shard))
    const knownBatches = isUncertain ? [...this.#inFlight] : null
    const attempt = (oneByOne: boolean, passesOver: boolean) =>
      statements.claimDue({ leases, request, bounds, fair, knownBatches, oneByOne, passesOver })
    try {
      return await attempt(false, false)
    } catch (thrown) {
      if (statements.isLockTimeout(thrown)) return attempt(false, true)
      if (statements.isStoreError(thrown)) throw thrown
      return attempt(true, true)
    }
  }

  #isBusy(shard: number): boolean {
    const until = this.#busyUntil.get(shard)
    if (until === undefined) return false
    if (until > this.#clock.monotonic()) return true
    this.#busyUntil.delete(shard)
    return false
  }
}

/** When each of these shards is to be scanned next, after a claim. */
function scansAfter(leases: readonly Lease[], result: ClaimResult, now: number): NextWakes {
  const shards = leases.map(({ shard }) => shard)
  // If there is more to claim, the engine comes back at once and needs no later wake.
  const scans = new Map(result.more ? shards.map((shard) => [shard, now]) : result.next)
  const locked = result.passedLocked ? shards : result.busy.map(({ shard }) => shard)
  for (const shard of locked) lowerTo(scans, shard, now + LOCKED_AGAIN_MS)
  for (const [shard, wakeAt] of result.written) if (shards.includes(shard)) lowerTo(scans, shard, wakeAt)
  return scans
}

/** The position up to which each shard has nothing but timers in flight: the next scan starts there. */
function passed({ scanned, timers }: ClaimResult, inFlight: InFlightTimers): Map<number, Position> {
  const claimed = new Set(timers.map(({ timer }) => timer.id))
  const positions = new Map<number, Position>()
  for (const [shard, found] of scanned) {
    for (const { id, version, wakeAt } of found) {
      if (!claimed.has(id) && !inFlight.has(id, version)) break
      positions.set(shard, { wakeAt, id })
    }
  }
  return positions
}

/** Nothing claimed, and when to look again. */
function nothing(nextWakeAt: number | null): Claimed {
  return { timers: [], nextWakeAt, lost: [], more: false }
}

function earlier(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}
