import type { Scope } from '../alarm/index.ts'
import type { Lease } from '../stores/index.ts'
import type { DeliveryPool, Ended } from './delivery-pool.ts'
import type { EngineOptions } from './engine.ts'
import type { InFlightSet } from './in-flight-set.ts'
import { isSameLease } from './leases.ts'
import { observeSettle, reportFailure } from './observer.ts'

/** What settling needs from its engine. */
export interface SettlingPorts extends Pick<EngineOptions, 'store' | 'clock' | 'observer' | 'context'> {
  readonly pool: DeliveryPool
  readonly inFlight: InFlightSet
  /** A settle has found that a lease is lost. */
  readonly onLost: (lease: Lease) => void
  /** How many more were delivered, and whose logs have grown; null where others' may have grown as well. */
  readonly onSettled: (delivered: number, scopes: readonly Scope[] | null) => void
  /** A settle has ended, successfully or not. */
  readonly onEnded: () => void
}

/** Writes the outcomes of deliveries. One settle runs at a time, beside the claims: neither waits for the other. */
export class Settling {
  readonly #ports: SettlingPorts
  #running: Promise<void> | null = null
  #failure: { readonly thrown: unknown } | null = null

  constructor(ports: SettlingPorts) {
    this.#ports = ports
  }

  get isRunning(): boolean {
    return this.#running !== null
  }

  /** Whether something has ended that the store has not confirmed. */
  get isNeeded(): boolean {
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
        this.#ports.onEnded()
      })
  }

  /** Waits for the settle that is running, and fails as it did. */
  async end(): Promise<void> {
    await this.#running
    this.check()
  }

  /** Throws the error of a settle that has failed since the last check. */
  check(): void {
    const failure = this.#failure
    this.#failure = null
    if (failure !== null) throw failure.thrown
  }

  async #settle(): Promise<void> {
    const { store, clock, pool, inFlight, observer, context, onLost, onSettled } = this.#ports
    const { ended, finished } = pool.drain()
    const settlements = ended.flatMap(({ claimed, delivery }) =>
      delivery === null ? [] : { ...claimed, delivery },
    )
    const startedAt = clock.monotonic()
    let lost: readonly Lease[]
    try {
      ;({ lost } = await store.settle(settlements, finished, context()))
    } catch (thrown) {
      pool.restore(ended, finished)
      reportFailure(observer, 'settle', thrown)
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
