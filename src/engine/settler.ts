import type { Scope } from '../alarm/index.ts'
import type { Lease } from '../stores/index.ts'
import type { DeliveryPool, Ended } from './delivery-pool.ts'
import type { EngineOptions } from './engine.ts'
import type { InFlightSet } from './in-flight-set.ts'
import { isSameLease } from './leases.ts'
import { observeSettle, reportAndRethrow } from './observer.ts'

/** What the settler needs from its engine. */
export interface SettlerPorts extends Pick<EngineOptions, 'store' | 'clock' | 'observer' | 'context'> {
  readonly pool: DeliveryPool
  readonly inFlight: InFlightSet
  /** Called when a settle has found that a lease is lost. */
  readonly onLost: (lease: Lease) => void
  /** Called with the number of recorded deliveries, and the owners whose event logs grew; null: possibly any owner's. */
  readonly onSettled: (delivered: number, scopes: readonly Scope[] | null) => void
  /** Called when a settle has ended, successfully or not. */
  readonly onIdle: () => void
}

/** Writes the outcomes of deliveries. One settle runs at a time, beside the claims: neither waits for the other. */
export class Settler {
  readonly #ports: SettlerPorts
  #running: Promise<void> | null = null
  #failure: { readonly thrown: unknown } | null = null

  constructor(ports: SettlerPorts) {
    this.#ports = ports
  }

  get isRunning(): boolean {
    return this.#running !== null
  }

  /** Whether something has ended that the store has not confirmed. */
  get hasUnsettled(): boolean {
    return this.#ports.pool.hasEnded || this.isRunning
  }

  /** Begins to settle what has ended, unless a settle is running: the next one includes it. */
  begin(): void {
    if (this.#running !== null || !this.#ports.pool.hasEnded) return
    this.#running = this.#settle()
      .catch((thrown: unknown) => {
        this.#failure = { thrown }
      })
      .finally(() => {
        this.#running = null
        this.#ports.onIdle()
      })
  }

  /** Waits for the settle that is running, and fails as it did. */
  async waitUntilIdle(): Promise<void> {
    await this.#running
    this.throwFailure()
  }

  /** Throws the error of a settle that has failed since the last call. */
  throwFailure(): void {
    const failure = this.#failure
    this.#failure = null
    if (failure !== null) throw failure.thrown
  }

  async #settle(): Promise<void> {
    const { store, clock, pool, inFlight, observer, context, onLost, onSettled } = this.#ports
    const { ended, finishedBatches } = pool.drain()
    // Without an outcome: it was committed in the handler's transaction.
    const settlements = ended.flatMap(({ claimed, delivery }) =>
      delivery === null ? [] : { ...claimed, delivery },
    )
    const startedAt = clock.monotonic()
    let lost: readonly Lease[]
    try {
      ;({ lost } = await store.settle(settlements, finishedBatches, context()))
    } catch (thrown) {
      pool.restore(ended, finishedBatches)
      reportAndRethrow(observer, 'settle', thrown)
    }
    for (const lease of lost) onLost(lease)
    if (observer !== undefined) {
      observer.settled(clock.monotonic() - startedAt)
      // The settlements of lost leases were void.
      const valid = settlements.filter(({ lease }) => !lost.some((each) => isSameLease(each, lease)))
      observeSettle(observer, valid)
    }
    let delivered = 0
    for (const { claimed, delivery } of ended) {
      inFlight.settled(claimed.timer.id, claimed.timer.version)
      if (delivery === null || delivery.kind === 'delivered') delivered += 1
    }
    onSettled(delivered, scopesOf(ended))
  }
}

/** A delivery that committed together with its settle may have set other owners' alarms in the same transaction. */
function scopesOf(ended: readonly Ended[]): readonly Scope[] | null {
  return ended.some(({ delivery }) => delivery === null) ? null : ended.map(({ claimed }) => claimed.alarm)
}
