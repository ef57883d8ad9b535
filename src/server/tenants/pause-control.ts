import { type Target, targetKey } from '../../alarm/index.ts'
import {
  CachedDocuments,
  type DeliveryLimits,
  type PausedParty,
  type PauseState,
  type Resumed,
} from '../../library/index.ts'
import type { Documents } from '../../stores/index.ts'
import type { Clock } from '../../time/index.ts'
import { NO_QUOTAS, type QuotaPair } from '../limits/index.ts'

/** A change made by another process is seen after this long; one made here at once. */
const REFRESH_MS = 2_000
/** After this long nothing that was paused is left, whichever shards a process acquires: the resume is forgotten. */
const RESUMED_MS = 86_400_000

/** One pause, or the catch-up after it. */
interface Pause {
  readonly party: PausedParty
  readonly pausedAt: number
  readonly resumed: { readonly at: number; readonly perSecond: number | null } | null
}

/** How many deliveries of a tenant, and of each of its owners, may run at the same time. */
interface Deliveries {
  readonly tenant: number | null
  readonly owner: number | null
}

/** All of it in one document: every process that fires reads it every two seconds, and one row is cheap to read. */
interface Controls {
  /** The pauses, under the name they are stored by. */
  readonly holds: Readonly<Record<string, Pause>>
  readonly deliveries: Readonly<Record<string, Deliveries>>
}

const NONE: Controls = { holds: {}, deliveries: {} }
const KIND = 'pauses'
const NAME = 'all'

/**
 * Which tenants and targets are paused or catching up, and how many deliveries each tenant may have at the same time.
 * Every process that fires needs it. It is kept in the store and read again and again.
 */
export class PauseControl implements PauseState, DeliveryLimits {
  readonly #defaults: Deliveries
  #controls = NONE
  #tenants: ReadonlySet<string> = new Set()
  #targets: ReadonlySet<string> = new Set()
  /** Whose catch-up has ended here, with the time of the resume. */
  readonly #caughtUp = new Map<string, number>()
  #documents: CachedDocuments<Controls> | null = null
  #clock: Clock | null = null
  readonly #listeners = new Set<() => void>()

  /** With the quotas of tenants that have none of their own. */
  constructor(quotas: QuotaPair = NO_QUOTAS) {
    this.#defaults = deliveriesOf(quotas)
  }

  pausedTenants(): ReadonlySet<string> {
    return this.#tenants
  }

  pausedTargets(): ReadonlySet<string> {
    return this.#targets
  }

  resumed(): readonly Resumed[] {
    return Object.values(this.#controls.holds).flatMap(({ party, resumed }) =>
      resumed === null ? [] : { party, ...resumed },
    )
  }

  deliveriesOf(tenant: string): Deliveries {
    const { deliveries } = this.#controls
    return Object.hasOwn(deliveries, tenant) ? deliveries[tenant]! : this.#defaults
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /**
   * Starts to read the pauses of this store, unless it was started before. They are known when it returns. The function
   * returned stops it.
   */
  async attach(documents: Documents, clock: Clock, onError: (thrown: unknown) => void): Promise<() => void> {
    if (this.#documents !== null) return () => {}
    this.#documents = new CachedDocuments(documents, clock, KIND)
    this.#clock = clock
    await this.#refresh()
    let isOver = false
    let cancelTimer = () => {}
    const again = () => {
      if (isOver) return
      cancelTimer = clock.setTimer(REFRESH_MS, () => void this.#refresh().catch(onError).finally(again))
    }
    again()
    return () => {
      isOver = true
      cancelTimer()
    }
  }

  isPaused(party: PausedParty): boolean {
    return this.#controls.holds[nameOf(party)]?.resumed === null
  }

  /** Whether deliveries of theirs may still be waiting, as far as this process knows. */
  isCatchingUp(party: PausedParty): boolean {
    const name = nameOf(party)
    const resumed = this.#controls.holds[name]?.resumed ?? null
    return resumed !== null && this.#caughtUp.get(name) !== resumed.at
  }

  caughtUp({ party, at }: Resumed): void {
    this.#caughtUp.set(nameOf(party), at)
  }

  /** The targets that are paused or catching up. */
  targets(): readonly Pick<Target, 'kind' | 'name'>[] {
    return Object.values(this.#controls.holds)
      .map(({ party }) => party)
      .filter((party) => this.isPaused(party) || this.isCatchingUp(party))
      .flatMap((party) => ('target' in party ? party.target : []))
  }

  pause(party: PausedParty): Promise<void> {
    return this.#change((controls, now) => ({
      ...controls,
      holds: { ...controls.holds, [nameOf(party)]: { party, pausedAt: now, resumed: null } },
    }))
  }

  /** Resumes it; what waited is delivered at this rate. Returns whether it was paused. */
  async resume(party: PausedParty, perSecond: number | null): Promise<boolean> {
    const name = nameOf(party)
    let wasPaused = false
    await this.#change((controls, now) => {
      const pause = controls.holds[name]
      wasPaused = pause !== undefined
      if (pause === undefined) return controls
      return {
        ...controls,
        holds: { ...controls.holds, [name]: { ...pause, resumed: { at: now, perSecond } } },
      }
    })
    return wasPaused
  }

  /** Sets how many deliveries of a tenant may run at the same time. */
  limit(tenant: string, quotas: QuotaPair): Promise<void> {
    return this.#change((controls) => ({
      ...controls,
      deliveries: { ...controls.deliveries, [tenant]: deliveriesOf(quotas) },
    }))
  }

  async #change(change: (controls: Controls, now: number) => Controls): Promise<void> {
    const clock = this.#clock!
    const kept = await this.#documents!.change(NAME, '', (before) => {
      const now = clock.now()
      const { holds, deliveries } = before ?? NONE
      const current = Object.entries(holds).filter(
        ([, { resumed }]) => resumed === null || now - resumed.at < RESUMED_MS,
      )
      return change({ holds: Object.fromEntries(current), deliveries }, now)
    })
    this.#accept(kept.value)
  }

  async #refresh(): Promise<void> {
    const kept = await this.#documents!.get(NAME)
    this.#accept(kept?.value ?? NONE)
  }

  #accept(controls: Controls): void {
    if (JSON.stringify(controls) === JSON.stringify(this.#controls)) return
    this.#controls = controls
    for (const name of this.#caughtUp.keys()) if (!(name in controls.holds)) this.#caughtUp.delete(name)
    const paused = Object.values(controls.holds).filter(({ resumed }) => resumed === null)
    this.#tenants = new Set(paused.flatMap(({ party }) => ('tenant' in party ? party.tenant : [])))
    this.#targets = new Set(paused.flatMap(({ party }) => ('target' in party ? targetKey(party.target) : [])))
    for (const listener of this.#listeners) listener()
  }
}

function nameOf(party: PausedParty): string {
  return 'tenant' in party ? `tenant ${party.tenant}` : `target ${targetKey(party.target)}`
}

function deliveriesOf({ tenant, owner }: QuotaPair): Deliveries {
  return { tenant: tenant.concurrent_deliveries ?? null, owner: owner.concurrent_deliveries ?? null }
}
