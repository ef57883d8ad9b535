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
import { NO_QUOTAS, type QuotaPair } from './quotas.ts'

/** What was switched in another process is known here after this long; one's own at once. */
const LOOK_MS = 2_000
/** After so long nothing that was held is left, in whatever shards a process gains: who was resumed is forgotten. */
const RESUMED_MS = 86_400_000

/** One pause, or the catch-up after it. */
interface Hold {
  readonly party: PausedParty
  readonly pausedAt: number
  readonly resumed: { readonly at: number; readonly perSecond: number | null } | null
}

/** How many deliveries of a tenant, and of each of its owners, may be under way. */
interface Deliveries {
  readonly tenant: number | null
  readonly owner: number | null
}

/** All of it in one document: whoever fires looks at it again and again, and one row is cheap to look at. */
interface Switches {
  readonly holds: Readonly<Record<string, Hold>>
  readonly deliveries: Readonly<Record<string, Deliveries>>
}

const NONE: Switches = { holds: {}, deliveries: {} }
const NAME = 'all'

/**
 * What every process that fires must know of tenants at once: who is paused or catches up, and how much of theirs may be
 * under way. Kept in the store, and looked at again and again.
 */
export class PauseControl implements PauseState, DeliveryLimits {
  readonly #defaults: Deliveries
  #switches = NONE
  #tenants: ReadonlySet<string> = new Set()
  #targets: ReadonlySet<string> = new Set()
  /** Of those who were resumed: whose catch-up has ended here, by when it began. */
  readonly #caughtUp = new Map<string, number>()
  #shelf: CachedDocuments<Switches> | null = null
  #clock: Clock | null = null
  readonly #listeners = new Set<() => void>()

  /** With what holds for tenants of which nothing else is said. */
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
    return Object.values(this.#switches.holds).flatMap(({ party, resumed }) =>
      resumed === null ? [] : { party, ...resumed },
    )
  }

  deliveriesOf(tenant: string): Deliveries {
    const { deliveries } = this.#switches
    return Object.hasOwn(deliveries, tenant) ? deliveries[tenant]! : this.#defaults
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /**
   * Begins to look at what is kept in this store, again and again, where nobody else has it do so; what is paused is known
   * when it answers, with how to stop.
   */
  async attach(documents: Documents, clock: Clock, onError: (thrown: unknown) => void): Promise<() => void> {
    if (this.#shelf !== null) return () => {}
    this.#shelf = new CachedDocuments(documents, clock, 'switchboard')
    this.#clock = clock
    await this.#look()
    let isOver = false
    let cancelLook = () => {}
    const again = () => {
      if (isOver) return
      cancelLook = clock.setTimer(LOOK_MS, () => void this.#look().catch(onError).finally(again))
    }
    again()
    return () => {
      isOver = true
      cancelLook()
    }
  }

  isPaused(party: PausedParty): boolean {
    return this.#switches.holds[nameOf(party)]?.resumed === null
  }

  /** Whether something of theirs may be held yet, as far as the clocks that run here tell. */
  isCatchingUp(party: PausedParty): boolean {
    const name = nameOf(party)
    const resumed = this.#switches.holds[name]?.resumed ?? null
    return resumed !== null && this.#caughtUp.get(name) !== resumed.at
  }

  caughtUp({ party, at }: Resumed): void {
    this.#caughtUp.set(nameOf(party), at)
  }

  /** The targets that are paused, or catch up. */
  targets(): readonly Pick<Target, 'kind' | 'name'>[] {
    return Object.values(this.#switches.holds)
      .map(({ party }) => party)
      .filter((party) => this.isPaused(party) || this.isCatchingUp(party))
      .flatMap((party) => ('target' in party ? party.target : []))
  }

  pause(party: PausedParty): Promise<void> {
    return this.#change((switches, now) => ({
      ...switches,
      holds: { ...switches.holds, [nameOf(party)]: { party, pausedAt: now, resumed: null } },
    }))
  }

  /** Whether it was paused. What waited comes back so many per second. */
  async resume(party: PausedParty, perSecond: number | null): Promise<boolean> {
    const name = nameOf(party)
    let wasPaused = false
    await this.#change((switches, now) => {
      const hold = switches.holds[name]
      wasPaused = hold !== undefined
      if (hold === undefined) return switches
      return {
        ...switches,
        holds: { ...switches.holds, [name]: { ...hold, resumed: { at: now, perSecond } } },
      }
    })
    return wasPaused
  }

  /** Lets so many deliveries of a tenant be under way from now on. */
  limit(tenant: string, quotas: QuotaPair): Promise<void> {
    return this.#change((switches) => ({
      ...switches,
      deliveries: { ...switches.deliveries, [tenant]: deliveriesOf(quotas) },
    }))
  }

  async #change(change: (switches: Switches, now: number) => Switches): Promise<void> {
    const clock = this.#clock!
    const kept = await this.#shelf!.change(NAME, '', (before) => {
      const now = clock.now()
      const { holds, deliveries } = before ?? NONE
      const current = Object.entries(holds).filter(
        ([, { resumed }]) => resumed === null || now - resumed.at < RESUMED_MS,
      )
      return change({ holds: Object.fromEntries(current), deliveries }, now)
    })
    this.#accept(kept.value)
  }

  async #look(): Promise<void> {
    const kept = await this.#shelf!.get(NAME)
    this.#accept(kept?.value ?? NONE)
  }

  #accept(switches: Switches): void {
    if (JSON.stringify(switches) === JSON.stringify(this.#switches)) return
    this.#switches = switches
    for (const name of this.#caughtUp.keys()) if (!(name in switches.holds)) this.#caughtUp.delete(name)
    const held = Object.values(switches.holds).filter(({ resumed }) => resumed === null)
    this.#tenants = new Set(held.flatMap(({ party }) => ('tenant' in party ? party.tenant : [])))
    this.#targets = new Set(held.flatMap(({ party }) => ('target' in party ? targetKey(party.target) : [])))
    for (const listener of this.#listeners) listener()
  }
}

function nameOf(party: PausedParty): string {
  return 'tenant' in party ? `tenant ${party.tenant}` : `target ${targetKey(party.target)}`
}

function deliveriesOf({ tenant, owner }: QuotaPair): Deliveries {
  return { tenant: tenant.concurrent_deliveries ?? null, owner: owner.concurrent_deliveries ?? null }
}
