import type { Context } from '../alarm/index.ts'
import type { Lease, Store } from '../stores/index.ts'
import type { Clock } from '../time/index.ts'

/** What the leases ask of their engine. */
export interface LeasePorts {
  readonly store: Store
  readonly clock: Clock
  /** This process, among those that may own a shard. */
  readonly process: string
  readonly pools: readonly string[]
  readonly context: () => Context
  /** Another process has a shard now: what was under way there is broken off. */
  readonly onLost: (lease: Lease) => void
  /** A beat has been answered: shards were gained, or some that had lapsed are held again. */
  readonly onRenewed: (renewed: Renewed) => Promise<void>
  readonly onError: (thrown: unknown) => void
}

/** What a beat has brought. */
export interface Renewed {
  readonly gained: boolean
  readonly lapsed: boolean
}

/** The shards this process owns, and the heartbeat that keeps them (promise: fenced). */
export class Leases {
  readonly #ports: LeasePorts
  #leases: readonly Lease[] = []
  #cancelBeat: (() => void) | null = null
  #beating: Promise<void> = Promise.resolve()
  #releasing = false

  constructor(ports: LeasePorts) {
    this.#ports = ports
  }

  get all(): readonly Lease[] {
    return this.#leases
  }

  /** Those under which something may be taken at this moment. */
  get ready(): readonly Lease[] {
    return this.#leases.filter((lease) => this.mayStart(lease) === 'yes')
  }

  /** Checked immediately before each start; a lease that ran out may be renewed yet, a lost one may not. */
  mayStart(lease: Lease): 'yes' | 'wait' | 'lost' {
    const held = this.#leases.find((each) => each.shard === lease.shard)
    if (held === undefined || held.epoch !== lease.epoch) return 'lost'
    return this.#ports.clock.monotonic() < held.until ? 'yes' : 'wait'
  }

  lose(lease: Lease): void {
    this.#leases = this.#leases.filter((each) => each.shard !== lease.shard || each.epoch !== lease.epoch)
    this.#ports.onLost(lease)
  }

  /** The heartbeat: renews the leases, takes over shards that are free, and sees to the next beat. */
  beat(): Promise<void> {
    const { clock, store } = this.#ports
    this.#cancelBeat?.()
    this.#beating = this.#renew().finally(() => {
      // A drain may outlast the lease: it beats on until the shards are given back.
      if (this.#releasing) return
      // Another beat may have been asked for meanwhile: one chain of them is enough.
      this.#cancelBeat?.()
      this.#cancelBeat = clock.setTimer(store.heartbeatMs, () => void this.beat())
    })
    return this.#beating
  }

  /** Gives the shards back, and beats no more. */
  async release(): Promise<void> {
    this.#releasing = true
    this.#cancelBeat?.()
    await this.#beating
    this.#cancelBeat?.()
    const leases = this.#leases
    this.#leases = []
    try {
      await this.#ports.store.releaseLeases(leases)
    } finally {
      this.#releasing = false
    }
  }

  async #renew(): Promise<void> {
    const { store, process: owner, pools, context, onRenewed, onError: onTrouble } = this.#ports
    try {
      const lapsed = this.#leases.some((lease) => this.mayStart(lease) !== 'yes')
      const leases = await store.heartbeat(owner, pools, context())
      const isIn = (list: readonly Lease[], { shard, epoch }: Lease) =>
        list.some((each) => each.shard === shard && each.epoch === epoch)
      const lost = this.#leases.filter((was) => !isIn(leases, was))
      const gained = leases.some((is) => !isIn(this.#leases, is))
      for (const lease of lost) this.lose(lease)
      this.#leases = leases
      await onRenewed({ gained, lapsed })
    } catch (thrown) {
      onTrouble(thrown)
    }
  }
}
