import { type Target, targetKey } from '../../alarm/index.ts'
import { type HeldParty, type HoldBook, type Resumed, Shelf } from '../../library/index.ts'
import type { Documents } from '../../stores/index.ts'
import type { Clock } from '../../time/index.ts'

/** Another process's pauses are seen here after this long; one's own at once. */
const LOOK_MS = 2_000
/** After so long nothing that was held is left: who was resumed is forgotten. */
const RESUMED_MS = 86_400_000

/** One pause, or the catch-up after it. */
interface Hold {
  readonly party: HeldParty
  readonly pausedAt: number
  readonly resumed: { readonly at: number; readonly perSecond: number | null } | null
}

/** All of them in one document: whoever fires looks at it again and again, and one row is cheap to look at. */
type HoldRecord = Readonly<Record<string, Hold>>

const NAME = 'all'

/** What operators have paused and resumed: kept in the store, known to every process that fires. */
export class HoldDesk implements HoldBook {
  #holds: HoldRecord = {}
  #tenants: ReadonlySet<string> = new Set()
  #targets: ReadonlySet<string> = new Set()
  #shelf: Shelf<HoldRecord> | null = null
  #clock: Clock | null = null
  #cancelLook: (() => void) | null = null
  readonly #listeners = new Set<() => void>()

  heldTenants(): ReadonlySet<string> {
    return this.#tenants
  }

  heldTargets(): ReadonlySet<string> {
    return this.#targets
  }

  resumed(): readonly Resumed[] {
    return Object.values(this.#holds).flatMap(({ party, resumed }) =>
      resumed === null ? [] : { party, ...resumed },
    )
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Begins to look at what is kept in this store, again and again; what is paused is known when it answers. */
  async attach(documents: Documents, clock: Clock, onTrouble: (thrown: unknown) => void): Promise<void> {
    this.#shelf = new Shelf(documents, clock, 'holds')
    this.#clock = clock
    await this.#look()
    const again = () => {
      this.#cancelLook = clock.setTimer(LOOK_MS, () => {
        this.#look().catch(onTrouble).finally(again)
      })
    }
    again()
  }

  detach(): void {
    this.#cancelLook?.()
  }

  isPaused(party: HeldParty): boolean {
    return this.#holds[nameOf(party)]?.resumed === null
  }

  isCatchingUp(party: HeldParty): boolean {
    const hold = this.#holds[nameOf(party)]
    return hold !== undefined && hold.resumed !== null
  }

  /** The targets that are paused, or catch up. */
  targets(): { readonly target: Pick<Target, 'kind' | 'name'>; readonly isPaused: boolean }[] {
    return Object.values(this.#holds).flatMap(({ party, resumed }) =>
      'target' in party ? { target: party.target, isPaused: resumed === null } : [],
    )
  }

  pause(party: HeldParty): Promise<void> {
    return this.#change((holds, now) => ({
      ...holds,
      [nameOf(party)]: { party, pausedAt: now, resumed: null },
    }))
  }

  /** Whether it was paused. What waited comes back so many per second. */
  async resume(party: HeldParty, perSecond: number | null): Promise<boolean> {
    const name = nameOf(party)
    let wasPaused = false
    await this.#change((holds, now) => {
      const hold = holds[name]
      wasPaused = hold !== undefined
      return hold === undefined ? holds : { ...holds, [name]: { ...hold, resumed: { at: now, perSecond } } }
    })
    return wasPaused
  }

  async #change(change: (holds: HoldRecord, now: number) => HoldRecord): Promise<void> {
    const clock = this.#clock!
    const kept = await this.#shelf!.change(NAME, '', (before) => {
      const now = clock.now()
      const current = Object.entries(before ?? {}).filter(
        ([, { resumed }]) => resumed === null || now - resumed.at < RESUMED_MS,
      )
      return change(Object.fromEntries(current), now)
    })
    this.#accept(kept.value)
  }

  async #look(): Promise<void> {
    const kept = await this.#shelf!.get(NAME)
    this.#accept(kept?.value ?? {})
  }

  #accept(holds: HoldRecord): void {
    if (JSON.stringify(holds) === JSON.stringify(this.#holds)) return
    this.#holds = holds
    const held = Object.values(holds).filter(({ resumed }) => resumed === null)
    this.#tenants = new Set(held.flatMap(({ party }) => ('tenant' in party ? party.tenant : [])))
    this.#targets = new Set(held.flatMap(({ party }) => ('target' in party ? targetKey(party.target) : [])))
    for (const listener of this.#listeners) listener()
  }
}

function nameOf(party: HeldParty): string {
  return 'tenant' in party ? `tenant ${party.tenant}` : `target ${targetKey(party.target)}`
}
