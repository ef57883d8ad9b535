import type { Lease } from '../stores/index.ts'
import type { EngineOptions } from './engine.ts'
import { reportAndRethrow } from './observer.ts'

/** What the leases need from their engine. */
export interface LeasePorts
  extends Pick<EngineOptions, 'store' | 'clock' | 'process' | 'pools' | 'observer' | 'context' | 'onError'> {
  /** Another process has a shard now: its deliveries here are broken off. */
  readonly onLost: (lease: Lease) => void
  /** A heartbeat was answered: shards were gained, or lapsed leases renewed. */
  readonly onRenewed: (renewed: { readonly gained: boolean; readonly lapsed: boolean }) => Promise<void>
}

/** Whether it is the same lease, whenever it was renewed. */
export function isSameLease(a: Lease, b: Lease): boolean {
  return a.shard === b.shard && a.epoch === b.epoch
}

/** The shards this process holds, and the heartbeat that keeps them (promise: fenced). */
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
    const leased = this.#leases.find((each) => isSameLease(each, lease))
    if (leased === undefined) return 'lost'
    return this.#ports.clock.monotonic() < leased.until ? 'yes' : 'wait'
  }

  lose(lease: Lease): void {
    this.#leases = this.#leases.filter((each) => !isSameLease(each, lease))
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

  /** Ends the heartbeat, and gives the shards back. */
  async release(): Promise<void> {
    this.#releasing = true
    this.#cancelNext?.()
    await this.#beating
    this.#cancelNext?.()
    this.#leases = []
    try {
      await this.#ports.store.leave(this.#ports.process)
    } finally {
      this.#releasing = false
    }
  }

  async #renew(): Promise<void> {
    const { store, process, observer, context, onRenewed, onError } = this.#ports
    try {
      const pools = await this.#servedPools()
      const lapsed = this.#leases.some((lease) => this.mayStart(lease) !== 'yes')
      const leases = await store
        .heartbeat(process, pools, context())
        .catch((thrown: unknown) => reportAndRethrow(observer, 'heartbeat', thrown))
      const lost = this.#leases.filter((was) => !leases.some((is) => isSameLease(was, is)))
      const gained = leases.some((is) => !this.#leases.some((was) => isSameLease(was, is)))
      for (const lease of lost) this.lose(lease)
      this.#leases = leases
      await onRenewed({ gained, lapsed })
    } catch (thrown) {
      onError(thrown)
    }
  }

  /** The pools to serve from now on. Shards of other pools are given back: a store keeps what a live process holds. */
  async #servedPools(): Promise<readonly string[]> {
    const { store, observer } = this.#ports
    try {
      const pools = await this.#ports.pools()
      const left = this.#leases.filter(({ pool }) => !pools.includes(pool))
      for (const lease of left) this.lose(lease)
      if (left.length > 0) {
        await store.releaseLeases(left).catch((thrown: unknown) => {
          // They are still this process's, so the next heartbeat must try again.
          this.#leases = [...this.#leases, ...left]
          throw thrown
        })
      }
      return pools
    } catch (thrown) {
      reportAndRethrow(observer, 'heartbeat', thrown)
    }
  }
}
