import type { DeliveryOutcome } from '../alarm/index.ts'
import type { ClaimedTimer, InFlightBatch, Lease, Settlement, Store } from '../stores/index.ts'
import type { Dispatcher } from '../targets/index.ts'
import type { Clock } from '../time/index.ts'
import { Attempt, type Break } from './attempt.ts'
import { type DeliveryLimits, type Full, Grants, Throttle } from './limits.ts'
import { NOBODY, Shares } from './shares.ts'

/** A delivery that has ended and is to be settled; one that committed itself has no more to write. */
export interface Ended {
  readonly taking: ClaimedTimer
  /** Null where it has committed together with its settle. */
  readonly delivery: DeliveryOutcome | null
}

/** What there is to write of these. */
export function settlementsOf(ended: readonly Ended[]): Settlement[] {
  return ended.flatMap(({ taking, delivery }) => (delivery === null ? [] : settlementOf(taking, delivery)))
}

function settlementOf({ lease, alarm, timer }: ClaimedTimer, delivery: DeliveryOutcome): Settlement {
  return { lease, alarm, timer, delivery }
}

/** What the crew asks of its engine. */
export interface DeliveryPoolPorts {
  readonly store: Store
  readonly courier: Dispatcher
  readonly clock: Clock
  readonly concurrency: number
  readonly limits?: DeliveryLimits | undefined
  /** Whether an attempt under this lease may start at this very moment (promise: fenced). */
  readonly mayStart: (lease: Lease) => 'yes' | 'wait' | 'lost'
  readonly context: () => Parameters<Store['settle']>[2]
  /** Called when something ended, so that it is settled. */
  readonly onEnded: () => void
}

/** How much work is taken ahead, in time: enough to hide a round trip, little enough to stay cancellable. */
const AHEAD_MS = 50
/** What was taken and has not started by then goes back to the queue. */
const QUEUED_MS_MAX = 500
const SMOOTHING = 0.05
const GATHER_MS = 5

/** Delivers what was taken, so many at a time, and gathers what came of it. */
export class DeliveryPool {
  readonly #ports: DeliveryPoolPorts
  readonly #active = new Set<Attempt>()
  readonly #flights = new Map<InFlightBatch, number>()
  readonly #shares: Shares
  readonly #throttle: Throttle | null
  #queue: { readonly taking: ClaimedTimer; readonly since: number }[] = []
  #head = 0
  #ended: Ended[] = []
  #landed: InFlightBatch[] = []
  #averageMs: number | null = null

  constructor(ports: DeliveryPoolPorts) {
    this.#ports = ports
    this.#shares = new Shares(ports.concurrency)
    this.#throttle = ports.limits === undefined ? null : new Throttle(ports.limits)
  }

  get concurrency(): number {
    return this.#ports.concurrency
  }

  get active(): number {
    return this.#active.size
  }

  get queued(): number {
    return this.#queue.length - this.#head
  }

  /** How many have ended and are not handed over yet. */
  get ended(): number {
    return this.#ended.length
  }

  get hasEnded(): boolean {
    return this.#ended.length > 0 || this.#landed.length > 0
  }

  /** How many more to take: what can be delivered soon, judged by how long deliveries have taken. */
  room(batchMax: number): number {
    const { concurrency } = this.#ports
    let oldestMs = 0
    for (const attempt of this.#active) {
      oldestMs = attempt.ageMs
      break
    }
    const eachMs = Math.max(this.#averageMs ?? AHEAD_MS, oldestMs / 2)
    const soon = Math.min(
      batchMax,
      Math.max(concurrency, Math.floor((concurrency * AHEAD_MS) / Math.max(eachMs, 0.01))),
    )
    return Math.max(0, soon - this.active - this.queued)
  }

  /** Tenants that have more than their share of the hands, while none is free. */
  get crowding(): ReadonlySet<string> {
    return this.active + this.queued < this.#ports.concurrency ? NOBODY : this.#shares.crowding
  }

  /** Tenants and owners that have as much under way as they may; null where nobody has. */
  get full(): Full | null {
    return this.#throttle?.full ?? null
  }

  /** What a take may bring of each tenant and owner; null where there are no limits. */
  grants(): Grants | null {
    return this.#throttle === null ? null : new Grants(this.#throttle)
  }

  /** How many more to take from tenants that are not crowding: some hands are kept for them. */
  get spare(): number {
    return Math.max(0, this.#ports.concurrency + this.#shares.reserve - this.active)
  }

  /** Takes over a batch and starts what it can. */
  accept(takings: readonly ClaimedTimer[]): void {
    const since = this.#ports.clock.monotonic()
    for (const taking of takings) {
      this.#enter(taking)
      this.#queue.push({ taking, since })
    }
    this.start()
  }

  /** Takes over what other tenants than the crowding ones are due: it starts at once, on the hands kept for them. */
  acceptApart(takings: readonly ClaimedTimer[]): void {
    // All of them first: a flight has landed when the last that has come along has ended, not the first.
    for (const taking of takings) this.#enter(taking)
    for (const taking of takings) {
      const may = this.#ports.mayStart(taking.lease)
      if (may !== 'yes' || this.#isEarly(taking)) this.#end(taking, { kind: 'released' })
      else this.#deliver(taking)
    }
  }

  #enter(taking: ClaimedTimer): void {
    this.#flights.set(taking.batch, (this.#flights.get(taking.batch) ?? 0) + 1)
    this.#shares.add(taking.alarm.tenant)
    this.#throttle?.add(taking.alarm)
  }

  /** Starts queued deliveries as far as there are free hands. */
  start(): void {
    while (this.#active.size < this.#ports.concurrency && this.#head < this.#queue.length) {
      const { taking } = this.#queue[this.#head]!
      const may = this.#ports.mayStart(taking.lease)
      if (may === 'wait') return
      this.#shift()
      // What another owner answers for now is settled in vain, and so forgotten. What a clock that was set back makes
      // early waits for its instant again (promise: never-early).
      if (may === 'lost' || this.#isEarly(taking)) this.#end(taking, { kind: 'released' })
      else this.#deliver(taking)
    }
  }

  /** Gives back what has waited too long behind slow deliveries, or all of it. */
  releaseQueued(all = false): void {
    const before = this.#ports.clock.monotonic() - QUEUED_MS_MAX
    while (this.#head < this.#queue.length) {
      const { taking, since } = this.#queue[this.#head]!
      if (!all && since > before) return
      this.#shift()
      this.#end(taking, { kind: 'released' })
    }
  }

  /** Breaks off every attempt, or those under one lease. */
  break(by: Break, lease?: Lease): void {
    for (const attempt of this.#active) {
      const { shard, epoch } = attempt.taking.lease
      if (lease === undefined || (shard === lease.shard && epoch === lease.epoch)) attempt.break(by)
    }
  }

  /**
   * While most hands are busy, what has ended is written with what ends in the next moment: a commit for ten costs as
   * much as one for fifty, and no delivery is made on a SQLite file while it lasts.
   */
  async gather(): Promise<void> {
    const { clock, concurrency } = this.#ports
    for (let ms = 0; ms < GATHER_MS; ms++) {
      if (this.active < concurrency / 2 || this.ended >= concurrency / 2) return
      await new Promise<void>((resolve) => void clock.setTimer(1, resolve))
    }
  }

  /** Hands over what has ended since the last time. */
  drain(): { ended: Ended[]; landed: InFlightBatch[] } {
    const drained = { ended: this.#ended, landed: this.#landed }
    this.#ended = []
    this.#landed = []
    return drained
  }

  /** Takes back what could not be written: it is handed over again. */
  restore(ended: readonly Ended[], landed: readonly InFlightBatch[]): void {
    this.#ended.unshift(...ended)
    this.#landed.unshift(...landed)
  }

  #isEarly({ timer }: ClaimedTimer): boolean {
    return timer.wakeAt !== null && this.#ports.clock.now() < timer.wakeAt
  }

  #shift(): void {
    this.#head += 1
    if (this.#head < 1024 && this.#head < this.#queue.length) return
    this.#queue = this.#queue.slice(this.#head)
    this.#head = 0
  }

  #deliver(taking: ClaimedTimer): void {
    const { courier, clock } = this.#ports
    const attempt = new Attempt(taking, courier, clock)
    this.#active.add(attempt)
    const run = courier.isTransactional(taking.alarm.target)
      ? this.#deliverInTransaction(attempt)
      : attempt.run()
    void run.then((delivery) => {
      this.#active.delete(attempt)
      this.#measure(attempt.ageMs)
      this.#end(taking, delivery)
      this.start()
    })
  }

  /** The handler's writes and the settle commit together; a failure is undone and settled like any other. */
  async #deliverInTransaction(attempt: Attempt): Promise<DeliveryOutcome | null> {
    const { store, context, mayStart } = this.#ports
    const { taking } = attempt
    const { lease } = taking
    let failure: DeliveryOutcome | null = null
    let ran = false
    try {
      const { lost, stale } = await store.transact(
        lease,
        async (tx) => {
          // The transaction was waited for: meanwhile the lease may have ended (promise: fenced), or the clock may have
          // been set back (promise: never-early).
          if (mayStart(lease) !== 'yes') throw new Error('the lease has ended')
          if (this.#isEarly(taking)) throw new Error('its instant is yet to come')
          ran = true
          const delivery = await attempt.run(within(attempt, tx))
          if (delivery.kind !== 'delivered') {
            failure = delivery
            throw new Error('the delivery failed: its transaction is rolled back')
          }
          return settlementOf(taking, delivery)
        },
        context,
      )
      return lost.length + stale > 0 ? { kind: 'released' } : null
    } catch (thrown) {
      if (failure !== null) return failure
      // The store did not let it begin: no fault of the handler's.
      if (!ran) return { kind: 'released' }
      const now = context().now
      return {
        kind: 'failed',
        firedAt: attempt.firedAt,
        endedAt: Math.max(now, attempt.firedAt),
        error: String((thrown as Error).message),
      }
    }
  }

  #end(taking: ClaimedTimer, delivery: DeliveryOutcome | null): void {
    this.#ended.push({ taking, delivery })
    this.#shares.remove(taking.alarm.tenant)
    this.#throttle?.remove(taking.alarm)
    this.#land(taking.batch)
    this.#ports.onEnded()
  }

  #land(flight: InFlightBatch): void {
    const left = (this.#flights.get(flight) ?? 1) - 1
    if (left > 0) {
      this.#flights.set(flight, left)
      return
    }
    this.#flights.delete(flight)
    this.#landed.push(flight)
    this.#ports.onEnded()
  }

  #measure(tookMs: number): void {
    this.#averageMs =
      this.#averageMs === null ? tookMs : this.#averageMs + (tookMs - this.#averageMs) * SMOOTHING
  }
}

/** The same errand with an open transaction. */
function within(attempt: Attempt, tx: unknown) {
  return {
    alarm: attempt.alarm,
    timer: attempt.timer,
    firedAt: attempt.firedAt,
    tx,
    get signal() {
      return attempt.signal
    },
  }
}
