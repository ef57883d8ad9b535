import type { Context } from '../alarm/index.ts'
import type { Lease, Store } from '../stores/index.ts'
import type { Clock } from '../time/index.ts'
import { type Observer, watched } from './observer.ts'

/** What the leases need from their engine. */
export interface LeasePorts {
  readonly store: Store
  readonly clock: Clock
  /** This process, among those that may own a shard. */
  readonly process: string
  readonly pools: readonly string[]
  readonly observer?: Observer | undefined
  readonly context: () => Context
  /** Another process has a shard now: its deliveries here are broken off. */
  readonly onLost: (lease: Lease) => void
  /** A heartbeat was answered: shards were gained, or lapsed leases renewed. */
  readonly onRenewed: (renewed: Renewed) => Promise<void>
  readonly onError: (thrown: unknown) => void
}

/** What a heartbeat has changed. */
export interface Renewed {
  readonly gained: boolean
  readonly lapsed: boolean
}

/** The shards this process owns, and the heartbeat that keeps them (promise: fenced). */
export class Leases {
  readonly #ports: LeasePorts
  #leases: readonly Lease[] = []
  #cancelNext: (() => void) | null = null
  #beating: Promise<void> = Promise.resolve()
  #releasing = false

  constructor(ports: LeasePorts) {
    this.#ports = ports
  }

  get all(): readonly Lease[] {
    return this.#leases
  }

  /** Those under which timers may be claimed at this moment. */
  get ready(): readonly Lease[] {
    return this.#leases.filter((lease) => this.mayStart(lease) === 'yes')
  }

  /** Checked immediately before each start. A lease that ran out may still be renewed (`wait`), a lost one may not. */
  mayStart(lease: Lease): 'yes' | 'wait' | 'lost' {
    const leased = this.#leases.find((each) => each.shard === lease.shard)
    if (leased === undefined || leased.epoch !== lease.epoch) return 'lost'
    return this.#ports.clock.monotonic() < leased.until ? 'yes' : 'wait'
  }

  lose(lease: Lease): void {
    this.#leases = this.#leases.filter((each) => each.shard !== lease.shard || each.epoch !== lease.epoch)
    this.#ports.onLost(lease)
  }

  /** The heartbeat: renews the leases, takes over free shards, and schedules the next one. */
  heartbeat(): Promise<void> {
    const { clock, store } = this.#ports
    this.#cancelNext?.()
    this.#beating = this.#renew().finally(() => {
      // A drain may outlast the lease: heartbeats go on until the shards are given back.
      if (this.#releasing) return
      // Another heartbeat may have been asked for meanwhile: one chain of them is enough.
      this.#cancelNext?.()
      this.#cancelNext = clock.setTimer(store.heartbeatMs, () => void this.heartbeat())
    })
    return this.#beating
  }

  /** Gives the shards back, and ends the heartbeat. */
  async release(): Promise<void> {
    this.#releasing = true
    this.#cancelNext?.()
    await this.#beating
    this.#cancelNext?.()
    const leases = this.#leases
    this.#leases = []
    try {
      await this.#ports.store.releaseLeases(leases)
    } finally {
      this.#releasing = false
    }
  }

  async #renew(): Promise<void> {
    const { store, process, pools, observer, context, onRenewed, onError } = this.#ports
    try {
      const lapsed = this.#leases.some((lease) => this.mayStart(lease) !== 'yes')
      const leases = await watched(observer, 'heartbeat', store.heartbeat(process, pools, context()))
      const isIn = (list: readonly Lease[], { shard, epoch }: Lease) =>
        list.some((each) => each.shard === shard && each.epoch === epoch)
      const lost = this.#leases.filter((was) => !isIn(leases, was))
      const gained = leases.some((is) => !isIn(this.#leases, is))
      for (const lease of lost) this.lose(lease)
      this.#leases = leases
      await onRenewed({ gained, lapsed })
    } catch (thrown) {
      onError(thrown)
    }
  }
}
