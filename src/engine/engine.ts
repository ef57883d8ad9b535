import { type Context, type Decision, isFire, type Scope, triage } from '../alarm/index.ts'
import type { Claimed, DueTimer, Lease, Store, WaitingFilter } from '../stores/index.ts'
import type { Dispatcher } from '../targets/index.ts'
import type { Clock } from '../time/index.ts'
import { Admission, type ClaimPlan, type DeliveryLimits } from './admission.ts'
import { DeliveryPool } from './delivery-pool.ts'
import { InFlightSet } from './in-flight-set.ts'
import { Leases } from './leases.ts'
import { LoopSleeper } from './loop-sleeper.ts'
import { type Observer, observeClaim, type WrittenByClaim, watched } from './observer.ts'
import type { PauseCheck } from './pause-state.ts'
import { Settling } from './settling.ts'

/** What an engine is made of. */
export interface EngineOptions {
  readonly store: Store
  readonly clock: Clock
  readonly dispatcher: Dispatcher
  /** This process, among those that may own a shard. */
  readonly process: string
  readonly pools: readonly string[]
  readonly context: () => Context
  /** Deliveries at a time. */
  readonly concurrency: number
  readonly batchMax: number
  /** Occurrences later than this are misfires. */
  readonly graceMs: number
  /** How long a stop waits for running deliveries. */
  readonly drainMs: number
  /** What operators have paused; nothing by default. */
  readonly pauses?: PauseCheck
  /** How many deliveries tenants and owners may have running here; any number by default. */
  readonly limits?: DeliveryLimits
  readonly observer?: Observer | undefined
  /** Called when this process has gained shards. */
  readonly onGained?: () => void
  /** What must be done before anything may be claimed. */
  readonly prepare?: () => Promise<void>
  /** Called when the log has grown, with its owners; null where a handler may have written for others too. */
  readonly onLogged: (scopes: readonly Scope[] | null) => void
  /** Called with errors that belong to no alarm, such as a store that does not answer. */
  readonly onError: (thrown: unknown) => void
}

const REQUEUED_MAX = 5_000
/** Deciding about long missed rules takes time: a claim ends after this much of it, so that others get their turn. */
const CLAIM_MS_MAX = 50
/** Claims in a row for those held up by a crowding tenant, while they have more due than the reserve has slots. */
const CLAIMS_FOR_OTHERS_MAX = 4
const ERROR_WAIT_MS_MIN = 50
const ERROR_WAIT_MS_MAX = 5_000

/** The clock loop: own, wait, claim, fire, settle. There is no second scheduler anywhere. */
export class Engine {
  readonly #options: EngineOptions
  readonly #pool: DeliveryPool
  readonly #settling: Settling
  readonly #admission: Admission
  readonly #inFlight = new InFlightSet()
  readonly #sleeper: LoopSleeper
  readonly #leases: Leases
  #nextWakeAt: number | null = null
  #running: Promise<void> | null = null
  #stopping = false
  /** Whether what waited for handlers is still to be requeued: the store could not be reached. */
  #owesRequeue = false
  #turn: Promise<unknown> = Promise.resolve()
  #isClaiming = false
  #delivered = 0
  readonly state = () => ({ leases: this.#leases.all, inFlight: this.#inFlight, pool: this.#pool })

  constructor(options: EngineOptions) {
    this.#options = options
    this.#sleeper = new LoopSleeper(options.clock)
    this.#leases = new Leases({
      ...options,
      onLost: (lease) => this.#pool.break('lost', lease),
      onRenewed: async ({ gained, lapsed }) => {
        if (gained || lapsed || this.#pool.queued > 0) this.#sleeper.wake()
        if (gained) options.onGained?.()
        if (gained || this.#owesRequeue) await this.requeueForHandlers()
      },
    })
    this.#admission = new Admission({ ...options, load: () => this.#pool })
    this.#pool = new DeliveryPool({
      ...options,
      admission: this.#admission,
      mayStart: (lease) => this.#leases.mayStart(lease),
      onEnded: () => this.#sleeper.wake(),
    })
    this.#settling = new Settling({
      ...options,
      pool: this.#pool,
      inFlight: this.#inFlight,
      onLost: (lease) => this.#leases.lose(lease),
      onSettled: (delivered, scopes) => {
        this.#delivered += delivered
        options.onLogged(scopes)
      },
      onEnded: () => this.#sleeper.wake(),
    })
  }

  get isRunning(): boolean {
    return this.#running !== null
  }

  get leases(): readonly Lease[] {
    return this.#leases.all
  }

  /** Runs the clock until `stop`. */
  start(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#running !== null) return
      await this.#options.prepare?.()
      await this.#leases.heartbeat()
      // The drain belongs to the loop: a stop may be asked for from inside a handler, whose calls are kept waiting.
      this.#running = this.#loop().then(() => this.#drain())
    })
  }

  /** Something may be due earlier than the loop waits for. */
  hint(wakeAt: number | null): void {
    // During a claim it is not known yet what will be waited for, and the claim may not have seen this.
    const next = this.#admission.isSharing ? this.#admission.othersWakeAt : this.#nextWakeAt
    const isLater = wakeAt !== null && next !== null && wakeAt >= next
    if (!this.#isClaiming && isLater) return
    this.#admission.hint()
    this.#sleeper.wake()
  }

  /** Shards may have become free: they are claimed now, not at the next heartbeat. */
  renew(): void {
    if (this.#running !== null && !this.#stopping) void this.#leases.heartbeat()
  }

  /** Requeues what waited for handlers that are registered now, in steps between which others can write. */
  async requeueForHandlers(): Promise<void> {
    this.#owesRequeue = true
    for (const handler of this.#options.dispatcher.names())
      while ((await this.#requeue(this.#leases.all, { handler }, REQUEUED_MAX)) === REQUEUED_MAX);
    this.#owesRequeue = false
    this.#sleeper.wake()
  }

  /** Requeues up to `limit` timers that an operator had paused in this process's shards; answers how many. */
  async requeuePaused(which: WaitingFilter, limit: number): Promise<number> {
    const requeued = await this.#requeue(this.#leases.ready, which, limit)
    if (requeued > 0) this.#sleeper.wake()
    return requeued
  }

  #requeue(leases: readonly Lease[], which: WaitingFilter, limit: number): Promise<number> {
    const { store, observer, context } = this.#options
    return watched(observer, 'requeueWaiting', store.requeueWaiting(leases, which, context().now, limit))
  }

  /** Stops claiming, lets what is running settle within the drain's bound, and gives the shards back. */
  stop(): Promise<void> {
    // Set at once: a tick that is running ends with what it has claimed.
    this.#stopping = true
    this.#sleeper.wake()
    return this.#inTurn(async () => {
      try {
        if (this.#running === null) return
        await this.#running
        this.#running = null
        await this.#leases.release()
      } finally {
        this.#stopping = false
      }
    })
  }

  /** Fires what is due now and answers when it has settled; for callers that run no loop. */
  tick(): Promise<{ delivered: number; nextWakeAt: number | null }> {
    if (this.#running !== null) {
      this.#sleeper.wake()
      return Promise.resolve({ delivered: 0, nextWakeAt: this.#nextWakeAt })
    }
    return this.#inTurn(async () => {
      const before = this.#delivered
      await this.#options.prepare?.()
      await this.#leases.heartbeat()
      try {
        while (!this.#stopping && (await this.#tickOnce()));
        if (this.#stopping) await this.#drain()
      } finally {
        await this.#leases.release()
      }
      return { delivered: this.#delivered - before, nextWakeAt: this.#nextWakeAt }
    })
  }

  /** Claims a batch and waits until it is settled; answers whether there may be more. */
  async #tickOnce(): Promise<boolean> {
    const claimed = await this.#exchange()
    while (!this.#stopping && (this.#pool.active + this.#pool.queued > 0 || this.#settling.isNeeded)) {
      if (!this.#settling.isNeeded) await this.#sleeper.sleep(null)
      await this.#settle()
    }
    if (claimed === null) return false
    // What was skipped may leave its next occurrence due as well.
    const isDue = claimed.nextWakeAt !== null && claimed.nextWakeAt <= this.#options.clock.now()
    return claimed.timers.length > 0 || claimed.more || isDue
  }

  /** One after the other: a start, a tick and a stop would take the leases from each other. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => {})
    return turn
  }

  async #loop(): Promise<void> {
    let waitMs = ERROR_WAIT_MS_MIN
    while (!this.#stopping) {
      try {
        this.#settling.check()
        this.#pool.releaseQueued()
        this.#pool.start()
        await this.#pool.gather()
        const claimed = await this.#exchange(true)
        waitMs = ERROR_WAIT_MS_MIN
        // What is delivered much faster than it can be written must not pile up.
        if (this.#pool.ended >= this.#options.batchMax) await this.#settling.end()
        const isBusy =
          (this.#pool.hasEnded && !this.#settling.isRunning) ||
          (claimed?.more === true && this.#admission.free > 0)
        // The end of a settle wakes the loop too: a claim beside it may have missed its retry, or its next occurrence.
        if (isBusy) await this.#options.clock.turn()
        else await this.#sleeper.sleep(this.#sleepUntil())
      } catch (thrown) {
        this.#options.onError(thrown)
        // The failed settle has woken the sleeper: that is no reason to try again at once.
        if (!this.#stopping) await this.#sleeper.rest(this.#options.clock.now() + waitMs)
        waitMs = Math.min(waitMs * 2, ERROR_WAIT_MS_MAX)
      }
    }
  }

  /**
   * Without a free slot, or without a valid lease, nothing can be claimed, however due it is: then the end of a delivery, or
   * the next heartbeat, wakes the loop. Looping on an instant in the past would starve the heartbeat itself.
   */
  #sleepUntil(): number | null {
    if (this.#leases.ready.length === 0) return null
    return this.#admission.free > 0 ? this.#nextWakeAt : this.#admission.othersWakeAt
  }

  /**
   * Settles what ended and claims what is due. Both are begun in one turn, so that a store can commit them together.
   * Then, if a tenant is crowding, claims what the others are due.
   */
  async #exchange(withOthers = false): Promise<Claimed | null> {
    this.#settling.begin()
    try {
      const claimed = await this.#claim(this.#admission.claimForAll())
      if (claimed !== null) {
        this.#nextWakeAt = claimed.nextWakeAt
        this.#pool.accept(claimed.timers)
      }
      // Never beside the other claim: each must know what the other has in flight.
      if (withOthers) await this.#claimForOthers()
      return claimed
    } finally {
      this.#isClaiming = false
    }
  }

  /** Waits until everything is settled that has ended by now. */
  async #settle(): Promise<void> {
    await this.#settling.end()
    this.#settling.begin()
    await this.#settling.end()
  }

  async #claimForOthers(): Promise<void> {
    for (let round = 0; round < CLAIMS_FOR_OTHERS_MAX; round++) {
      const claimed = await this.#claim(this.#admission.claimForOthers())
      if (claimed === null) return
      this.#pool.acceptReserved(claimed.timers)
    }
  }

  async #claim(plan: ClaimPlan | null): Promise<Claimed | null> {
    const leases = this.#leases.ready
    if (plan === null || leases.length === 0) return null
    const context = this.#options.context()
    const { clock, store, observer } = this.#options
    // From the first decision on: the settle that shares its transaction has just used up as much.
    let startedAt: number | null = null
    const claim = this.#inFlight.claimStarted()
    this.#isClaiming = true
    // By occurrence: a store that has to start over, or to look up more, decides again, and the last decision counts.
    const written = new Map<string, WrittenByClaim>()
    let claimed: Claimed
    try {
      claimed = await watched(
        observer,
        'claim',
        store.claim(leases, {
          context,
          limit: plan.limit,
          ...plan.skips,
          inFlight: this.#inFlight,
          triage: (found) => {
            startedAt ??= clock.monotonic()
            return this.#triage(found, context, plan, written)
          },
          isLong: () => startedAt !== null && clock.monotonic() - startedAt > CLAIM_MS_MAX,
        }),
      )
    } finally {
      this.#inFlight.claimEnded(claim)
      // Also after an error: the answer may be lost, and the claim committed.
      if (written.size > 0) this.#options.onLogged([...written.values()].map(({ found }) => found.alarm))
    }
    for (const lease of claimed.lost) this.#leases.lose(lease)
    for (const { timer } of claimed.timers) this.#inFlight.add(timer.id, timer.version)
    this.#admission.claimed(plan, claimed)
    if (written.size > 0) this.#countWritten([...written.values()], claimed)
    return claimed
  }

  #countWritten(written: readonly WrittenByClaim[], { lost }: Claimed): void {
    const { observer } = this.#options
    const valid = written.filter(({ found }) => !lost.some(({ shard }) => shard === found.timer.shard))
    this.#delivered += valid.filter(({ change }) => change.events?.some(isFire) === true).length
    if (observer !== undefined) observeClaim(observer, valid)
  }

  #triage(
    found: DueTimer,
    context: Context,
    plan: ClaimPlan,
    written: Map<string, WrittenByClaim>,
  ): Decision {
    const facts = {
      graceMs: this.#options.graceMs,
      canRun: this.#options.dispatcher.canRun(found.alarm.target),
      isPaused: this.#options.pauses?.isPaused(found.alarm, found.timer) === true,
      openCount: found.openCount,
    }
    const decision = triage(found, facts, context)
    const occurrence = `${found.timer.id}:${found.timer.version}`
    if (decision.kind === 'fire' && !plan.admits(found.alarm, occurrence)) return { kind: 'pass' }
    if ((decision.kind === 'settle' || decision.kind === 'fire') && decision.change !== undefined)
      written.set(occurrence, { found, change: decision.change })
    return decision
  }

  async #drain(): Promise<void> {
    const { clock, drainMs } = this.#options
    this.#pool.releaseQueued(true)
    const deadline = clock.monotonic() + drainMs
    // By a timer: a settle may have to wait for a transactional handler, and that one for this very stop.
    const cancelBound = clock.setTimer(drainMs, () => this.#pool.break('drain'))
    try {
      while (this.#pool.active > 0 || this.#settling.isNeeded) await this.#drainOnce(deadline)
    } finally {
      cancelBound()
    }
  }

  async #drainOnce(deadline: number): Promise<void> {
    const { clock } = this.#options
    if (!this.#settling.isNeeded)
      await this.#sleeper.sleep(clock.now() + Math.max(1, deadline - clock.monotonic()))
    try {
      await this.#settle()
    } catch (thrown) {
      this.#options.onError(thrown)
      // What cannot be written by then is left to the next owner, which finds it in flight.
      if (clock.monotonic() >= deadline) this.#pool.drain()
      else await this.#sleeper.sleep(clock.now() + ERROR_WAIT_MS_MIN)
    }
  }
}
