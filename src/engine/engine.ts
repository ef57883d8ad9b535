import { type Context, type Decision, isFire, type Scope, type Serial, triage } from '../alarm/index.ts'
import type { Claimed, DueTimer, Lease, Store, WaitingFilter } from '../stores/index.ts'
import type { Dispatcher } from '../targets/index.ts'
import type { Clock } from '../time/index.ts'
import { Admission, type ClaimPlan, type DeliveryLimits } from './admission.ts'
import type { CatchUpLimiter } from './catch-up-limiter.ts'
import { Deferrals, withDeferred } from './deferrals.ts'
import { DeliveryPool } from './delivery-pool.ts'
import { InFlightSet } from './in-flight-set.ts'
import { Leases } from './leases.ts'
import { LoopSleeper } from './loop-sleeper.ts'
import { type Observer, observeClaim, reportAndRethrow, type WrittenByClaim } from './observer.ts'
import { Settler } from './settler.ts'

/** What an engine is made of. */
export interface EngineOptions {
  readonly store: Store
  readonly clock: Clock
  readonly dispatcher: Dispatcher
  /** The name of this process as a lease holder. */
  readonly process: string
  /** The pools that this process serves now; asked at each heartbeat. */
  readonly pools: () => Promise<readonly string[]>
  readonly context: () => Context
  /** How many deliveries may run at a time. */
  readonly concurrency: number
  readonly batchMax: number
  /** How long a stop waits for running deliveries. */
  readonly drainMs: number
  /** What operators have paused; nothing by default. */
  readonly pauses?: Pick<CatchUpLimiter, 'isPaused'>
  /** How many deliveries of each tenant and owner may run here at a time; no limit by default. */
  readonly limits?: DeliveryLimits | undefined
  readonly observer?: Observer | undefined
  /** Called when this process has gained shards. */
  readonly onGained?: () => void
  /** Called before the first claim of a start or a tick. */
  readonly prepare?: () => Promise<void>
  /** Called after events were written, with their owners; null if a handler may have written events of any owner. */
  readonly onLogged: (scopes: readonly Scope[] | null) => void
  /** Called with errors that belong to no alarm, such as a store that does not answer. */
  readonly onError: (thrown: unknown) => void
}

const REQUEUED_MAX = 5_000
/** A claim ends after this long: deciding about rules with many missed occurrences takes time, and blocks other work. */
const CLAIM_MS_MAX = 50
/** How many claims in a row may serve the tenants that a crowding tenant holds up (see `admission.ts`). */
const CLAIMS_FOR_OTHERS_MAX = 4
const ERROR_WAIT_MS_MIN = 50
const ERROR_WAIT_MS_MAX = 5_000

/**
 * The only scheduler: a loop that renews leases, sleeps until the next wake, claims due timers, delivers them and settles
 * their outcomes.
 */
export class Engine {
  readonly #options: EngineOptions
  readonly #pool: DeliveryPool
  readonly #settler: Settler
  readonly #admission: Admission
  readonly #deferrals = new Deferrals()
  readonly #inFlight = new InFlightSet()
  readonly #sleeper: LoopSleeper
  readonly #leases: Leases
  #nextWakeAt: number | null = null
  #running: Promise<void> | null = null
  #stopping = false
  /** Whether timers that wait for handlers must still be requeued; stays true if the store could not be reached. */
  #mustRequeue = false
  #turn: Promise<unknown> = Promise.resolve()
  #isClaiming = false
  #delivered = 0
  readonly state = () => ({
    leases: this.#leases.all,
    inFlight: this.#inFlight,
    pool: this.#pool,
    limitedTo: this.#admission.isLimiting ? { nextWakeAt: this.#nextWakeAt } : null,
  })

  constructor(options: EngineOptions) {
    this.#options = options
    this.#sleeper = new LoopSleeper(options.clock)
    this.#leases = new Leases({
      ...options,
      onLost: (lease) => this.#pool.break('lost', lease),
      onRenewed: async ({ gained, lapsed }) => {
        if (gained || lapsed || this.#pool.queued > 0) this.#sleeper.wake()
        if (gained) options.onGained?.()
        if (gained || this.#mustRequeue) await this.requeueForHandlers()
      },
    })
    this.#admission = new Admission({ ...options, load: () => this.#pool, deferrals: this.#deferrals })
    this.#pool = new DeliveryPool({
      ...options,
      admission: this.#admission,
      mayStart: (lease) => this.#leases.mayStart(lease),
      onEnded: () => this.#sleeper.wake(),
    })
    this.#settler = new Settler({
      ...options,
      pool: this.#pool,
      inFlight: this.#inFlight,
      onLost: (lease) => this.#leases.lose(lease),
      onSettled: (delivered, scopes) => {
        this.#delivered += delivered
        options.onLogged(scopes)
      },
      onIdle: () => this.#sleeper.wake(),
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
      // The loop drains by itself when it ends: a handler may call `stop`, and that call may wait for an earlier one.
      this.#running = this.#loop().then(() => this.#drain())
    })
  }

  /** Wakes the loop if a timer may be due before the instant that it sleeps until. */
  hint(wakeAt: number | null): void {
    // During a claim the next wake is not known yet, and the claim may have missed this timer: wake in any case.
    const next = this.#admission.isSharing ? this.#admission.othersWakeAt : this.#nextWakeAt
    const isLater = wakeAt !== null && next !== null && wakeAt >= next
    if (!this.#isClaiming && isLater) return
    this.#admission.hint()
    this.#sleeper.wake()
  }

  /** Called when shards may have become free: acquires them now, not at the next heartbeat. */
  renew(): void {
    if (this.#running !== null && !this.#stopping) void this.#leases.heartbeat()
  }

  /** Requeues timers whose handlers are registered now, in steps, so that others can write in between. */
  async requeueForHandlers(): Promise<void> {
    this.#mustRequeue = true
    for (const handler of this.#options.dispatcher.names()) {
      let requeued = REQUEUED_MAX
      while (requeued === REQUEUED_MAX)
        requeued = await this.#requeue(this.#leases.all, { handler }, REQUEUED_MAX)
    }
    this.#mustRequeue = false
    this.#sleeper.wake()
  }

  /** Requeues up to `limit` timers that an operator had paused in this process's shards; returns how many. */
  async requeuePaused(which: WaitingFilter, limit: number): Promise<number> {
    // Before they are due again: a claim may find them at once.
    this.#deferrals.requeued(which, this.#options.context().now)
    const requeued = await this.#requeue(this.#leases.ready, which, limit)
    if (requeued > 0) this.#sleeper.wake()
    return requeued
  }

  #requeue(leases: readonly Lease[], which: WaitingFilter, limit: number): Promise<number> {
    const { store, observer, context } = this.#options
    return store
      .requeueWaiting(leases, which, context().now, limit)
      .catch((thrown: unknown) => reportAndRethrow(observer, 'requeueWaiting', thrown))
  }

  /** Stops claiming, waits up to `drainMs` for running deliveries to settle, and releases the shards. */
  stop(): Promise<void> {
    // Set at once, so that a running tick claims nothing more.
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

  /** Fires what is due now, and resolves when it has settled. For callers that do not run the loop. */
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
        let hasMore = true
        while (!this.#stopping && hasMore) hasMore = await this.#tickOnce()
        if (this.#stopping) await this.#drain()
      } finally {
        await this.#leases.release()
      }
      return { delivered: this.#delivered - before, nextWakeAt: this.#nextWakeAt }
    })
  }

  /** Claims a batch and waits until it is settled; returns whether more may be due. */
  async #tickOnce(): Promise<boolean> {
    const claimed = await this.#settleAndClaim()
    while (!this.#stopping && (this.#pool.active + this.#pool.queued > 0 || this.#settler.hasUnsettled)) {
      if (!this.#settler.hasUnsettled) await this.#sleeper.sleep(null)
      await this.#settle()
    }
    if (claimed === null) return false
    // After skipped occurrences, the next one may be due as well.
    const isDue = claimed.nextWakeAt !== null && claimed.nextWakeAt <= this.#options.clock.now()
    return claimed.timers.length > 0 || claimed.more || isDue
  }

  /** Runs starts, ticks and stops one after the other: at the same time, one would release the leases of another. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => {})
    return turn
  }

  async #loop(): Promise<void> {
    let waitMs = ERROR_WAIT_MS_MIN
    while (!this.#stopping) {
      try {
        this.#settler.throwFailure()
        this.#pool.releaseQueued()
        this.#pool.start()
        await this.#pool.gather()
        const claimed = await this.#settleAndClaim(true)
        waitMs = ERROR_WAIT_MS_MIN
        // Outcomes must not pile up if deliveries end faster than they can be written.
        if (this.#pool.ended >= this.#options.batchMax) await this.#settler.waitUntilIdle()
        const isBusy =
          (this.#pool.hasEnded && !this.#settler.isRunning) ||
          (claimed?.more === true && this.#admission.free > 0)
        // The end of a settle wakes the loop, too: a claim at the same time may have missed what it wrote, such as a retry.
        if (isBusy) await this.#options.clock.turn()
        else await this.#sleeper.sleep(this.#sleepUntil())
      } catch (thrown) {
        this.#options.onError(thrown)
        // `rest` sleeps although the failed settle has woken the sleeper: the loop must not retry at once.
        if (!this.#stopping) await this.#sleeper.rest(this.#options.clock.now() + waitMs)
        waitMs = Math.min(waitMs * 2, ERROR_WAIT_MS_MAX)
      }
    }
  }

  /**
   * Without a free slot or a valid lease nothing can be claimed, even if it is due. Then the end of a delivery or the next
   * heartbeat wakes the loop. If it slept until an instant in the past instead, it would spin and starve the heartbeat.
   */
  #sleepUntil(): number | null {
    if (this.#leases.ready.length === 0) return null
    return this.#admission.free > 0 ? this.#nextWakeAt : this.#admission.othersWakeAt
  }

  /**
   * Settles what has ended, and claims what is due. Both start in one turn of the event loop, so that a store can commit
   * them together. Then, if a tenant is crowding, claims for the other tenants.
   */
  async #settleAndClaim(withOthers = false): Promise<Claimed | null> {
    this.#settler.begin()
    try {
      const claimed = await this.#claim(this.#admission.claimForAll())
      if (claimed !== null) {
        this.#nextWakeAt = claimed.nextWakeAt
        this.#pool.accept(claimed.timers)
      }
      // After the first claim, not beside it: this one must skip what the first has put in flight.
      if (withOthers) await this.#claimForOthers()
      return claimed
    } finally {
      this.#isClaiming = false
    }
  }

  /** Settles everything that has ended by now. */
  async #settle(): Promise<void> {
    await this.#settler.waitUntilIdle()
    this.#settler.begin()
    await this.#settler.waitUntilIdle()
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
    // Measured from the first decision, because a settle in the same transaction comes first and may take as long.
    let startedAt: number | null = null
    const claim = this.#inFlight.claimStarted()
    this.#isClaiming = true
    // By occurrence: a store that starts over, or reads more, asks for the decision again. The last one counts.
    const written = new Map<string, WrittenByClaim>()
    const deferred = new Set<Serial>()
    let claimed: Claimed
    try {
      claimed = await store.claim(leases, {
        context,
        limit: plan.limit,
        ...plan.skips,
        inFlight: this.#inFlight,
        triage: (found) => {
          startedAt ??= clock.monotonic()
          // Before the decision, by which a limit may defer what comes after it.
          if (this.#deferrals.has(found.alarm, found.timer)) deferred.add(found.timer.id)
          return this.#triage(found, context, plan, written)
        },
        isOverTime: () => startedAt !== null && clock.monotonic() - startedAt > CLAIM_MS_MAX,
      })
    } catch (thrown) {
      reportAndRethrow(observer, 'claim', thrown)
    } finally {
      this.#inFlight.claimEnded(claim)
      // Also after an error: the claim may be committed although its answer was lost.
      if (written.size > 0) this.#options.onLogged([...written.values()].map(({ found }) => found.alarm))
    }
    for (const lease of claimed.lost) this.#leases.lose(lease)
    for (const { timer } of claimed.timers) this.#inFlight.add(timer.id, timer.version)
    this.#admission.claimed(plan, claimed)
    if (written.size > 0) this.#countWritten([...written.values()], claimed, deferred)
    return withDeferred(claimed, deferred)
  }

  #countWritten(written: readonly WrittenByClaim[], { lost }: Claimed, deferred: ReadonlySet<Serial>): void {
    const { observer } = this.#options
    const valid = written.filter(({ found }) => !lost.some(({ shard }) => shard === found.timer.shard))
    this.#delivered += valid.filter(({ change }) => change.events?.some(isFire) === true).length
    if (observer !== undefined) observeClaim(observer, valid, deferred)
  }

  #triage(
    found: DueTimer,
    context: Context,
    plan: ClaimPlan,
    written: Map<string, WrittenByClaim>,
  ): Decision {
    const facts = {
      canRun: this.#options.dispatcher.canRun(found.alarm.target),
      isPaused: this.#options.pauses?.isPaused(found.alarm, found.timer) === true,
      openCount: found.openCount,
    }
    const decision = triage(found, facts, context)
    const occurrence = `${found.timer.id}:${found.timer.version}`
    if (decision.kind === 'fire' && !plan.admits(found.alarm, occurrence)) return { kind: 'leave_due' }
    if ((decision.kind === 'settle' || decision.kind === 'fire') && decision.change !== undefined)
      written.set(occurrence, { found, change: decision.change })
    return decision
  }

  async #drain(): Promise<void> {
    const { clock, drainMs } = this.#options
    this.#pool.releaseQueued(true)
    const deadline = clock.monotonic() + drainMs
    // A timer, because the loop below may hang: a settle may wait for a transactional handler that waits for this stop.
    const cancelBound = clock.setTimer(drainMs, () => this.#pool.break('drain'))
    try {
      while (this.#pool.active > 0 || this.#settler.hasUnsettled) await this.#drainOnce(deadline)
    } finally {
      cancelBound()
    }
  }

  async #drainOnce(deadline: number): Promise<void> {
    const { clock } = this.#options
    if (!this.#settler.hasUnsettled)
      await this.#sleeper.sleep(clock.now() + Math.max(1, deadline - clock.monotonic()))
    try {
      await this.#settle()
    } catch (thrown) {
      this.#options.onError(thrown)
      // What cannot be written by then is left to the next lease holder, which finds it in flight.
      if (clock.monotonic() >= deadline) this.#pool.drain()
      else await this.#sleeper.sleep(clock.now() + ERROR_WAIT_MS_MIN)
    }
  }
}
