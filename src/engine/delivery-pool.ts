import type { DeliveryOutcome } from '../alarm/index.ts'
import { errorText } from '../error.ts'
import type { ClaimedTimer, InFlightBatch, Lease, Settlement } from '../stores/index.ts'
import type { Admission } from './admission.ts'
import { Attempt, type Break } from './attempt.ts'
import type { EngineOptions } from './engine.ts'
import { isSameLease } from './leases.ts'
import { observeSettle } from './observer.ts'

/** A delivery that has ended and is to be settled. */
export interface Ended {
  readonly claimed: ClaimedTimer
  /** Null where it has committed together with its settle: nothing is left to write. */
  readonly delivery: DeliveryOutcome | null
}

/** What the pool needs from its engine. */
export interface DeliveryPoolPorts
  extends Pick<EngineOptions, 'store' | 'dispatcher' | 'clock' | 'concurrency' | 'observer' | 'context'> {
  readonly admission: Pick<Admission, 'enter' | 'leave'>
  /** Whether an attempt under this lease may start at this very moment (promise: fenced). */
  readonly mayStart: (lease: Lease) => 'yes' | 'wait' | 'lost'
  /** Called when a delivery has ended, so that it is settled. */
  readonly onEnded: () => void
}

/** What was claimed and has not started by then goes back to the queue. */
const QUEUED_MS_MAX = 500
const SMOOTHING = 0.05
const GATHER_MS = 5

/** Delivers what was claimed, at most `concurrency` at a time, and collects the outcomes. */
export class DeliveryPool {
  /** How long deliveries have taken; null before the first has ended. */
  averageMs: number | null = null
  readonly #ports: DeliveryPoolPorts
  readonly #active = new Set<Attempt>()
  /** How many timers of each batch have not ended. */
  readonly #batches = new Map<InFlightBatch, number>()
  #queue: { readonly claimed: ClaimedTimer; readonly since: number }[] = []
  /** Where the queue begins: `shift()` takes 0.2 µs at a thousand entries, ten times as long. */
  #head = 0
  #ended: Ended[] = []
  #finishedBatches: InFlightBatch[] = []

  constructor(ports: DeliveryPoolPorts) {
    this.#ports = ports
  }

  /** Deliveries that run. */
  get active(): number {
    return this.#active.size
  }

  /** Claimed, and waiting for a slot. */
  get queued(): number {
    return this.#queue.length - this.#head
  }

  /** How long the oldest one has been running. */
  get oldestMs(): number {
    for (const attempt of this.#active) return attempt.ageMs
    return 0
  }

  /** How many have ended and are not drained yet. */
  get ended(): number {
    return this.#ended.length
  }

  get hasEnded(): boolean {
    return this.#ended.length > 0 || this.#finishedBatches.length > 0
  }

  /** Queues a batch and starts what it can. */
  accept(batch: readonly ClaimedTimer[]): void {
    const since = this.#ports.clock.monotonic()
    for (const claimed of batch) {
      this.#enter(claimed)
      this.#queue.push({ claimed, since })
    }
    this.start()
  }

  /** Starts a batch at once, on the slots reserved for tenants that are not crowding. */
  acceptReserved(batch: readonly ClaimedTimer[]): void {
    // All of them first: a batch is finished when the last timer that came with it has ended, not the first.
    for (const claimed of batch) this.#enter(claimed)
    for (const claimed of batch) this.#deliverOrRelease(claimed, this.#ports.mayStart(claimed.lease))
  }

  #enter(claimed: ClaimedTimer): void {
    this.#batches.set(claimed.batch, (this.#batches.get(claimed.batch) ?? 0) + 1)
    this.#ports.admission.enter(claimed.alarm)
  }

  /** Starts queued deliveries while slots are free. */
  start(): void {
    while (this.#active.size < this.#ports.concurrency && this.#head < this.#queue.length) {
      const { claimed } = this.#queue[this.#head]!
      const may = this.#ports.mayStart(claimed.lease)
      if (may === 'wait') return
      this.#shift()
      this.#deliverOrRelease(claimed, may)
    }
  }

  /**
   * The settle of what another process holds now is void, and so it is forgotten. What a clock that was set back makes early
   * waits for its instant again (promise: never-early).
   */
  #deliverOrRelease(claimed: ClaimedTimer, may: 'yes' | 'wait' | 'lost'): void {
    if (may !== 'yes' || this.#isEarly(claimed)) this.#end(claimed, { kind: 'released' })
    else this.#deliver(claimed)
  }

  /** Gives back what has waited too long behind slow deliveries, or all of it. */
  releaseQueued(all = false): void {
    const before = this.#ports.clock.monotonic() - QUEUED_MS_MAX
    while (this.#head < this.#queue.length) {
      const { claimed, since } = this.#queue[this.#head]!
      if (!all && since > before) return
      this.#shift()
      this.#end(claimed, { kind: 'released' })
    }
  }

  /** Breaks off every attempt, or those under one lease. */
  break(by: Break, lease?: Lease): void {
    for (const attempt of this.#active) {
      if (lease === undefined || isSameLease(attempt.claimed.lease, lease)) attempt.break(by)
    }
  }

  /**
   * While most slots are busy, waits up to 5 ms for more deliveries to end, so that they are settled together: a commit for
   * ten costs as much as one for fifty, and no delivery is made on a SQLite file while it lasts.
   */
  async gather(): Promise<void> {
    const { clock, concurrency } = this.#ports
    for (let ms = 0; ms < GATHER_MS; ms++) {
      if (this.active < concurrency / 2 || this.ended >= concurrency / 2) return
      await new Promise<void>((resolve) => void clock.setTimer(1, resolve))
    }
  }

  /** Hands over what has ended since the last time, and the batches of which all have ended. */
  drain(): { ended: Ended[]; finishedBatches: InFlightBatch[] } {
    const drained = { ended: this.#ended, finishedBatches: this.#finishedBatches }
    this.#ended = []
    this.#finishedBatches = []
    return drained
  }

  /** Takes back what could not be written: it is handed over again. */
  restore(ended: readonly Ended[], finishedBatches: readonly InFlightBatch[]): void {
    this.#ended.unshift(...ended)
    this.#finishedBatches.unshift(...finishedBatches)
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

  #deliver(claimed: ClaimedTimer): void {
    const { dispatcher, clock } = this.#ports
    const attempt = new Attempt(claimed, dispatcher, clock)
    this.#active.add(attempt)
    const run = dispatcher.isTransactional(claimed.alarm.target)
      ? this.#deliverInTransaction(attempt)
      : attempt.run()
    void run.then((delivery) => {
      this.#active.delete(attempt)
      this.#measure(attempt.ageMs)
      this.#end(claimed, delivery)
      this.start()
    })
  }

  /** The handler's writes and the settle commit together; a failure is rolled back and settled like any other. */
  async #deliverInTransaction(attempt: Attempt): Promise<DeliveryOutcome | null> {
    const { store, context, mayStart, observer } = this.#ports
    const { claimed } = attempt
    const { lease } = claimed
    let failure: DeliveryOutcome | null = null
    let settlement: Settlement | null = null
    let ran = false
    try {
      const { lost, stale } = await store.transact(
        lease,
        async (tx) => {
          // While the transaction was waited for, the lease may have ended (promise: fenced), or the clock may have been
          // set back (promise: never-early).
          if (mayStart(lease) !== 'yes') throw new Error('the lease has ended')
          if (this.#isEarly(claimed)) throw new Error('its instant is yet to come')
          ran = true
          attempt.tx = tx
          const delivery = await attempt.run()
          if (delivery.kind !== 'delivered') {
            failure = delivery
            throw new Error('the delivery failed: its transaction is rolled back')
          }
          settlement = { ...claimed, delivery }
          return settlement
        },
        context,
      )
      if (lost.length + stale > 0) return { kind: 'released' }
      if (observer !== undefined && settlement !== null) observeSettle(observer, [settlement])
      return null
    } catch (thrown) {
      if (failure !== null) return failure
      // The store did not let it begin, which is not the handler's fault.
      if (!ran) return { kind: 'released' }
      const now = context().now
      return {
        kind: 'failed',
        firedAt: attempt.firedAt,
        endedAt: Math.max(now, attempt.firedAt),
        error: errorText(thrown),
      }
    }
  }

  #end(claimed: ClaimedTimer, delivery: DeliveryOutcome | null): void {
    this.#ended.push({ claimed, delivery })
    this.#ports.admission.leave(claimed.alarm)
    const { batch } = claimed
    const left = (this.#batches.get(batch) ?? 1) - 1
    if (left > 0) this.#batches.set(batch, left)
    else {
      this.#batches.delete(batch)
      this.#finishedBatches.push(batch)
    }
    this.#ports.onEnded()
  }

  #measure(durationMs: number): void {
    const before = this.averageMs ?? durationMs
    this.averageMs = before + (durationMs - before) * SMOOTHING
  }
}
