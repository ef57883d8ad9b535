import { type Context, isFire, type Scope, triage, type Verdict } from '../alarm/index.ts'
import type { Claimed, ClaimRequest, DueTimer, Lease, Store, WaitingFilter } from '../stores/index.ts'
import type { Dispatcher } from '../targets/index.ts'
import type { Clock } from '../time/index.ts'
import { DeliveryPool } from './delivery-pool.ts'
import { InFlightSet } from './in-flight-set.ts'
import { Leases } from './leases.ts'
import type { DeliveryLimits, Grants } from './limits.ts'
import { LoopSleeper } from './loop-sleeper.ts'
import type { PauseCheck } from './pause-state.ts'
import { Settling } from './settling.ts'
import { Sharing } from './sharing.ts'

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
  /** How long a stop waits for deliveries under way. */
  readonly drainMs: number
  /** What operators hold: nothing, where it is not said. */
  readonly pauses?: PauseCheck
  /** How many deliveries tenants and owners may have under way here: any number, where it is not said. */
  readonly limits?: DeliveryLimits
  /** Told when this process has gained shards. */
  readonly onGained?: () => void
  /** What must be done before anything may be taken. */
  readonly prepare?: () => Promise<void>
  /** Told when something was written to the log, and whose it is; null where a handler may have written for others too. */
  readonly onLogged: (scopes: readonly Scope[] | null) => void
  /** Told of what goes wrong beside the alarms themselves, such as a store that does not answer. */
  readonly onError: (thrown: unknown) => void
}

/** What a take counts while the store asks about each. */
interface Counts {
  readonly ticked: Set<string>
  readonly grants: Grants | null
}

const RELEASED_MAX = 5_000
/** Deciding about long missed rules takes time: a take ends after this much of it, so that others get their turn. */
const TAKE_MS_MAX = 50
/** So few are looked at while those at their limits have more due: all but a handful would be read in vain. */
const ROOM_BESIDE_LIMITS = 32
/** Looks in a row for those whom another crowds out, while they have more due than hands are kept. */
const SHARES_MAX = 4
const TROUBLE_WAIT_MS_MIN = 50
const TROUBLE_WAIT_MS_MAX = 5_000

/** The clock loop: own, wait, take, fire, settle. There is no second scheduler anywhere. */
export class Engine {
  readonly #options: EngineOptions
  readonly #crew: DeliveryPool
  readonly #settling: Settling
  readonly #sharing: Sharing
  readonly #held = new InFlightSet()
  readonly #alert: LoopSleeper
  readonly #leases: Leases
  #nextWakeAt: number | null = null
  #running: Promise<void> | null = null
  #stopping = false
  /** Whether what waited for handlers is still to be put back: the store could not be reached. */
  #owesRelease = false
  #turn: Promise<unknown> = Promise.resolve()
  #taking = false
  /** Whether the last take from everybody had to pass something. */
  #hasPassed = false
  #delivered = 0
  #settledAtOnce: Scope[] = []
  readonly state = () => ({ leases: this.#leases.all, held: this.#held, crew: this.#crew })

  constructor(options: EngineOptions) {
    this.#options = options
    this.#alert = new LoopSleeper(options.clock)
    this.#leases = new Leases({
      ...options,
      onLost: (lease) => this.#crew.break('lost', lease),
      onRenewed: async ({ gained, lapsed }) => {
        if (gained || lapsed || this.#crew.queued > 0) this.#alert.wake()
        if (gained) options.onGained?.()
        if (gained || this.#owesRelease) await this.releaseWaiting()
      },
    })
    this.#crew = new DeliveryPool({
      store: options.store,
      courier: options.dispatcher,
      clock: options.clock,
      concurrency: options.concurrency,
      limits: options.limits,
      mayStart: (lease) => this.#leases.mayStart(lease),
      context: options.context,
      onEnded: () => this.#alert.wake(),
    })
    this.#settling = new Settling({
      ...options,
      crew: this.#crew,
      held: this.#held,
      onLost: (lease) => this.#leases.lose(lease),
      onSettled: (delivered, scopes) => {
        this.#delivered += delivered
        options.onLogged(scopes)
      },
      onEnded: () => this.#alert.wake(),
    })
    this.#sharing = new Sharing(this.#crew, options.clock)
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
      await this.#leases.beat()
      // The drain belongs to the loop: a stop may be asked for from inside a handler, whose calls are held back.
      this.#running = this.#loop().then(() => this.#drain())
    })
  }

  /** Something may be due earlier than the loop waits for. */
  hint(wakeAt: number | null): void {
    // During a take it is not known yet what will be waited for, and the take may not have seen this.
    const next = this.#sharing.isOn ? this.#sharing.nextLookAt : this.#nextWakeAt
    const later = wakeAt !== null && next !== null && wakeAt >= next
    if (!this.#taking && later) return
    this.#sharing.hint()
    this.#alert.wake()
  }

  /** Shards may have become free: they are claimed now, not at the next beat. */
  renew(): void {
    if (this.#running !== null && !this.#stopping) void this.#leases.beat()
  }

  /** Puts back in the queue what waited for handlers that are here now, in steps that let others write between. */
  async releaseWaiting(): Promise<void> {
    const { store, dispatcher: courier, context } = this.#options
    const release = (name: string) =>
      store.requeueWaiting(this.#leases.all, { handler: name }, context().now, RELEASED_MAX)
    this.#owesRelease = true
    for (const name of courier.names()) while ((await release(name)) === RELEASED_MAX);
    this.#owesRelease = false
    this.#alert.wake()
  }

  /** Puts back what an operator held in this process's shards, so many at most; answers how many. */
  async release(which: WaitingFilter, limit: number): Promise<number> {
    const { store, context } = this.#options
    const released = await store.requeueWaiting(this.#leases.ready, which, context().now, limit)
    if (released > 0) this.#alert.wake()
    return released
  }

  /** Stops taking, lets what is under way settle within the drain's bound, and gives the shards back. */
  stop(): Promise<void> {
    // Said at once: a tick under way ends with what it has taken.
    this.#stopping = true
    this.#alert.wake()
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

  /** Fires what is due now and answers when it has settled; for those who run no loop. */
  tick(): Promise<{ delivered: number; nextWakeAt: number | null }> {
    if (this.#running !== null) {
      this.#alert.wake()
      return Promise.resolve({ delivered: 0, nextWakeAt: this.#nextWakeAt })
    }
    return this.#inTurn(async () => {
      const before = this.#delivered
      await this.#options.prepare?.()
      await this.#leases.beat()
      try {
        while (!this.#stopping && (await this.#tickOnce()));
        if (this.#stopping) await this.#drain()
      } finally {
        await this.#leases.release()
      }
      return { delivered: this.#delivered - before, nextWakeAt: this.#nextWakeAt }
    })
  }

  /** Takes a batch and sees it settled; answers whether there may be more. */
  async #tickOnce(): Promise<boolean> {
    const taken = await this.#exchange()
    while (!this.#stopping && (this.#crew.active + this.#crew.queued > 0 || this.#settling.isNeeded)) {
      if (!this.#settling.isNeeded) await this.#alert.sleep(null)
      await this.#settle()
    }
    if (taken === null) return false
    // What was skipped may leave its next occurrence due as well.
    const isDue = taken.nextWakeAt !== null && taken.nextWakeAt <= this.#options.clock.now()
    return taken.timers.length > 0 || taken.more || isDue
  }

  /** One after the other: a start, a tick and a stop would take the leases from each other. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => {})
    return turn
  }

  async #loop(): Promise<void> {
    let waitMs = TROUBLE_WAIT_MS_MIN
    while (!this.#stopping) {
      try {
        this.#settling.check()
        this.#crew.releaseQueued()
        this.#crew.start()
        await this.#crew.gather()
        const taken = await this.#exchange(true)
        waitMs = TROUBLE_WAIT_MS_MIN
        // What is delivered much faster than it can be written must not pile up.
        if (this.#crew.ended >= this.#options.batchMax) await this.#settling.end()
        const busy =
          (this.#crew.hasEnded && !this.#settling.isUnderWay) ||
          (taken?.more === true && this.#sharing.room(this.#options.batchMax) > 0)
        // The end of a settle rouses too: a take beside it may not have seen its retry, or its next occurrence.
        if (busy) await this.#options.clock.turn()
        else await this.#alert.sleep(this.#sleepUntil())
      } catch (thrown) {
        this.#options.onError(thrown)
        // The failed settle has roused the loop: to be told is no reason to try again at once.
        if (!this.#stopping) await this.#alert.rest(this.#options.clock.now() + waitMs)
        waitMs = Math.min(waitMs * 2, TROUBLE_WAIT_MS_MAX)
      }
    }
  }

  /**
   * Without room, or without a lease that holds, nothing can be taken, however due it is: then the next end of a
   * delivery, or the next beat, rouses the loop. Turning over a past instant would starve the beat itself.
   */
  #sleepUntil(): number | null {
    if (this.#leases.ready.length === 0) return null
    return this.#sharing.room(this.#options.batchMax) > 0 ? this.#nextWakeAt : this.#sharing.nextLookAt
  }

  /**
   * Settles what ended and takes what is due. Both are asked for in one turn, so that a store can commit them together.
   * Without room, what goes along with the settle is what tenants are due whom another crowds out.
   */
  async #exchange(shares = false): Promise<Claimed | null> {
    this.#settling.begin()
    try {
      const room = this.#sharing.room(this.#options.batchMax)
      const taken = await this.#takeSome(this.#hasPassed ? Math.min(room, ROOM_BESIDE_LIMITS) : room)
      if (taken !== null) this.#accept(taken)
      // Never beside the other take: each must know what the other holds.
      if (shares) await this.#share()
      return taken
    } finally {
      this.#taking = false
    }
  }

  /** Sees everything settled that has ended by now. */
  async #settle(): Promise<void> {
    await this.#settling.end()
    this.#settling.begin()
    await this.#settling.end()
  }

  /** Where one tenant has all the hands, the others get those that are kept for them. */
  async #share(): Promise<void> {
    for (let round = 0; round < SHARES_MAX && this.#sharing.isDue; round++) {
      const taken = await this.#takeSome(this.#crew.spare, new Set(this.#sharing.crowding))
      if (taken === null) return
      for (const lease of taken.lost) this.#leases.lose(lease)
      for (const { timer } of taken.timers) this.#held.add(timer.id, timer.version)
      this.#sharing.looked(taken)
      this.#crew.acceptApart(taken.timers)
    }
  }

  async #takeSome(limit: number, avoid?: ReadonlySet<string>): Promise<Claimed | null> {
    const leases = this.#leases.ready
    if (limit === 0 || leases.length === 0) return null
    const context = this.#options.context()
    const { clock } = this.#options
    // From the first decision on: the settle that shares its transaction has just used up as much.
    let startedAt: number | null = null
    const take = this.#held.takeStarted()
    this.#taking = true
    // Each is counted once, however often the store asks: it may have to start over.
    const ticked = new Set<string>()
    const grants = this.#crew.grants()
    try {
      const taken = await this.#options.store.claim(leases, {
        context,
        limit,
        ...this.#avoided(avoid),
        inFlight: this.#held,
        triage: (found) => {
          startedAt ??= clock.monotonic()
          return this.#triage(found, context, { ticked, grants })
        },
        isLong: () => startedAt !== null && clock.monotonic() - startedAt > TAKE_MS_MAX,
      })
      if (avoid === undefined) this.#hasPassed = grants?.hasRefused === true
      return taken
    } finally {
      this.#held.takeEnded(take)
      this.#delivered += ticked.size
    }
  }

  /**
   * Whom a look passes over: those who crowd others out, and those who have as much under way as they may. Not even a million
   * alarms that are due and may not fire yet are read again and again.
   */
  #avoided(avoid?: ReadonlySet<string>): Pick<ClaimRequest, 'avoid' | 'avoidOwners'> {
    const { full } = this.#crew
    if (full === null) return avoid === undefined ? {} : { avoid }
    return { avoid: avoid === undefined ? full.tenants : avoid.union(full.tenants), avoidOwners: full.owners }
  }

  #accept(taken: Claimed): void {
    for (const lease of taken.lost) this.#leases.lose(lease)
    this.#nextWakeAt = taken.nextWakeAt
    this.#sharing.took(taken)
    if (this.#settledAtOnce.length > 0) this.#options.onLogged(this.#settledAtOnce)
    this.#settledAtOnce = []
    for (const { timer } of taken.timers) this.#held.add(timer.id, timer.version)
    this.#crew.accept(taken.timers)
  }

  #triage(found: DueTimer, context: Context, { ticked, grants }: Counts): Verdict {
    const facts = {
      graceMs: this.#options.graceMs,
      canRun: this.#options.dispatcher.canRun(found.alarm.target),
      isHeld: this.#options.pauses?.isPaused(found.alarm, found.timer) === true,
      openCount: found.openCount,
    }
    const verdict = triage(found, facts, context)
    const occurrence = `${found.timer.id}:${found.timer.version}`
    if (verdict.kind === 'fire' && grants?.grant(found.alarm, occurrence) === false) return { kind: 'pass' }
    if (verdict.kind === 'settle') this.#settledAtOnce.push(found.alarm)
    if (verdict.kind === 'settle' && verdict.change.events?.some(isFire)) ticked.add(occurrence)
    return verdict
  }

  async #drain(): Promise<void> {
    const { clock, drainMs } = this.#options
    this.#crew.releaseQueued(true)
    const deadline = clock.monotonic() + drainMs
    // By a timer: a settle may have to wait for a transactional handler, and that one for this very stop.
    const cancelBound = clock.setTimer(drainMs, () => this.#crew.break('drain'))
    try {
      while (this.#crew.active > 0 || this.#settling.isNeeded) await this.#drainOnce(deadline)
    } finally {
      cancelBound()
    }
  }

  async #drainOnce(deadline: number): Promise<void> {
    const { clock } = this.#options
    if (!this.#settling.isNeeded)
      await this.#alert.sleep(clock.now() + Math.max(1, deadline - clock.monotonic()))
    try {
      await this.#settle()
    } catch (thrown) {
      this.#options.onError(thrown)
      // What cannot be written by then is left to the next owner, which finds it in flight.
      if (clock.monotonic() >= deadline) this.#crew.drain()
      else await this.#alert.sleep(clock.now() + TROUBLE_WAIT_MS_MIN)
    }
  }
}
