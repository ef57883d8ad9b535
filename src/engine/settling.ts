import type { Context, Scope } from '../alarm/index.ts'
import type { Lease, Store } from '../stores/index.ts'
import { type DeliveryPool, type Ended, settlementsOf } from './delivery-pool.ts'
import type { InFlightSet } from './in-flight-set.ts'

/** What settling asks of its engine. */
export interface SettlingPorts {
  readonly store: Store
  readonly crew: DeliveryPool
  readonly held: InFlightSet
  readonly context: () => Context
  /** A settle has found that a lease is lost. */
  readonly onLost: (lease: Lease) => void
  /** So many more have been delivered, and the logs of these say so; null where others' may have grown as well. */
  readonly onSettled: (delivered: number, scopes: readonly Scope[] | null) => void
  /** A settle has ended, well or not. */
  readonly onEnded: () => void
}

/** Writes what came of deliveries. One settle at a time is under way, beside the takes: neither waits for the other. */
export class Settling {
  readonly #ports: SettlingPorts
  #underWay: Promise<void> | null = null
  #failure: { readonly thrown: unknown } | null = null

  constructor(ports: SettlingPorts) {
    this.#ports = ports
  }

  get isUnderWay(): boolean {
    return this.#underWay !== null
  }

  /** Whether something has ended that the store has not answered for. */
  get isNeeded(): boolean {
    return this.#ports.crew.hasEnded || this.isUnderWay
  }

  /** Begins to settle what has ended, unless a settle is under way: the next one will have it. */
  begin(): void {
    if (this.#underWay !== null || !this.#ports.crew.hasEnded) return
    this.#underWay = this.#settle()
      .catch((thrown: unknown) => {
        this.#failure = { thrown }
      })
      .finally(() => {
        this.#underWay = null
        this.#ports.onEnded()
      })
  }

  /** Waits for the settle that is under way, and fails as it did. */
  async end(): Promise<void> {
    await this.#underWay
    this.check()
  }

  /** Throws what a settle has failed with since this was asked last. */
  check(): void {
    const failure = this.#failure
    this.#failure = null
    if (failure !== null) throw failure.thrown
  }

  async #settle(): Promise<void> {
    const { store, crew, held, context, onLost, onSettled } = this.#ports
    const { ended, landed } = crew.drain()
    try {
      const { lost } = await store.settle(settlementsOf(ended), landed, context())
      for (const lease of lost) onLost(lease)
    } catch (thrown) {
      crew.restore(ended, landed)
      throw thrown
    }
    let delivered = 0
    for (const { taking, delivery } of ended) {
      held.settled(taking.timer.id, taking.timer.version)
      if (delivery === null || delivery.kind === 'delivered') delivered += 1
    }
    onSettled(delivered, scopesOf(ended))
  }
}

/** One that committed together with its settle may have set anybody's alarms in the same transaction. */
function scopesOf(ended: readonly Ended[]): readonly Scope[] | null {
  return ended.some(({ delivery }) => delivery === null) ? null : ended.map(({ taking }) => taking.alarm)
}
