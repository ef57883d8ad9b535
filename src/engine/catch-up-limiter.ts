import { type Alarm, type Target, type Timer, targetKey } from '../alarm/index.ts'
import type { WaitingFilter } from '../stores/index.ts'
import type { Clock } from '../time/index.ts'
import type { PauseCheck, PausedParty, PauseState, Resumed } from './pause-state.ts'

/** What a pacer is made of. */
export interface CatchUpLimiterPorts {
  readonly book: PauseState
  readonly clock: Clock
  /** Puts back what is held in this process's own shards, so many at most; answers how many. */
  readonly release: (which: WaitingFilter, limit: number) => Promise<number>
  /** The names of the targets of what is held in this process's own shards. */
  readonly heldTargets: () => Promise<readonly string[]>
  /** Which part of the shards are this process's own, from 0 to 1: so much of the pace is its. */
  readonly share: () => Promise<number>
  readonly onTrouble: (thrown: unknown) => void
}

/** A catch-up under way: what was held comes back at its pace. */
interface CatchUp {
  resumed: Resumed
  /** Under which names a target is held; null where they are to be looked for. */
  names: readonly string[] | null
  /** How many may be put back now; grows with time. */
  credit: number
  /** On the monotonic clock: since when nothing is found any more; null while something is. */
  emptySince: number | null
  isDone: boolean
}

const STEP_MS = 200
/** Put back in one step where there is no pace: others write between two of them. */
const RELEASED_MAX = 5_000
/** A take under way may hold one more: a catch-up has ended when nothing was found for so long. */
const QUIET_MS = 3_000
const SHARE_MS = 5_000

/**
 * Says what is held, and puts it back when it was resumed: so many per second, the longest held first. Until then it stays
 * held; what comes due meanwhile fires as ever.
 */
export class CatchUpLimiter implements PauseCheck {
  readonly #ports: CatchUpLimiterPorts
  readonly #catchUps = new Map<string, CatchUp>()
  #unwatch: (() => void) | null = null
  #cancelStep: (() => void) | null = null
  #isStepping = false
  #steppedAt = 0
  #share = { part: 1, at: Number.NEGATIVE_INFINITY }

  constructor(ports: CatchUpLimiterPorts) {
    this.#ports = ports
  }

  /** Whether an operator holds it. A timer that is no longer held knows nothing of it. */
  isPaused({ tenant, target }: Alarm, { waiting }: Timer): boolean {
    const { book } = this.#ports
    if (book.pausedTenants().has(tenant)) return true
    const targets = book.pausedTargets()
    if (targets.size > 0 && targets.has(targetKey(target))) return true
    if (waiting !== 'operator_pause' || this.#catchUps.size === 0) return false
    return this.#isPaced({ tenant }) || this.#isPaced({ target })
  }

  /** Begins to let go, while its engine runs. */
  start(): void {
    this.#unwatch ??= this.#ports.book.onChange(() => this.look())
    this.look()
  }

  stop(): void {
    this.#unwatch?.()
    this.#unwatch = null
    this.#cancelStep?.()
    this.#cancelStep = null
  }

  /** Shards were gained: something that was resumed long ago may be held there. */
  lookAgain(): void {
    this.#catchUps.clear()
    this.#share = { part: 1, at: Number.NEGATIVE_INFINITY }
    this.look()
  }

  /** Takes in what the book says now. */
  look(): void {
    const { book } = this.#ports
    const resumed = book.resumed().filter(({ party }) => !this.#isPaused(party))
    const known = new Map(this.#catchUps)
    this.#catchUps.clear()
    for (const each of resumed) {
      const name = nameOf(each.party)
      const before = known.get(name)
      // Its pace may have been changed meanwhile.
      if (before?.resumed.at === each.at) this.#catchUps.set(name, Object.assign(before, { resumed: each }))
      else
        this.#catchUps.set(name, { resumed: each, names: null, credit: 0, emptySince: null, isDone: false })
    }
    this.#schedule()
  }

  #isPaused(party: PausedParty): boolean {
    const { book } = this.#ports
    return 'tenant' in party
      ? book.pausedTenants().has(party.tenant)
      : book.pausedTargets().has(targetKey(party.target))
  }

  #isPaced(party: PausedParty): boolean {
    // Who runs no loop puts nothing back: what is held there is let go when it is looked at.
    return this.#unwatch !== null && this.#catchUps.get(nameOf(party))?.isDone === false
  }

  get #isNeeded(): boolean {
    return this.#unwatch !== null && this.#catchUps.values().some(({ isDone }) => !isDone)
  }

  #schedule(): void {
    if (!this.#isNeeded || this.#isStepping || this.#cancelStep !== null) return
    const { clock } = this.#ports
    this.#steppedAt = clock.monotonic()
    this.#cancelStep = clock.setTimer(STEP_MS, () => void this.#step())
  }

  async #step(): Promise<void> {
    const { clock, onTrouble } = this.#ports
    this.#cancelStep = null
    this.#isStepping = true
    const passedMs = Math.min(1_000, clock.monotonic() - this.#steppedAt)
    try {
      const share = await this.#ownShare()
      for (const each of this.#catchUps.values()) {
        // Without shards there is nothing to put back here: with the first of them it is looked again.
        if (share === 0) each.isDone = true
        if (!each.isDone) await this.#advance(each, passedMs, share)
      }
    } catch (thrown) {
      onTrouble(thrown)
    } finally {
      this.#isStepping = false
      this.#schedule()
    }
  }

  async #advance(each: CatchUp, passedMs: number, share: number): Promise<void> {
    const { book, clock } = this.#ports
    const { perSecond } = each.resumed
    // Nothing is saved up for later: it would come back as a burst.
    const perStep = perSecond === null ? RELEASED_MAX : (perSecond * share * passedMs) / 1_000
    each.credit = Math.min(each.credit + perStep, Math.max(1, perStep))
    const limit = Math.floor(each.credit)
    if (limit === 0) return
    const released = await this.#putBack(each, limit)
    each.credit -= released
    each.emptySince = released > 0 ? null : (each.emptySince ?? clock.monotonic())
    each.isDone = each.emptySince !== null && clock.monotonic() - each.emptySince >= QUIET_MS
    if (each.isDone) book.caughtUp?.(each.resumed)
  }

  async #putBack(each: CatchUp, limit: number): Promise<number> {
    const { release } = this.#ports
    const { party } = each.resumed
    if ('tenant' in party) return release({ heldTenant: party.tenant }, limit)
    each.names ??= await this.#namesOf(party.target)
    let released = 0
    for (const heldTarget of each.names)
      if (released < limit) released += await release({ heldTarget }, limit - released)
    if (released === 0) each.names = null
    return released
  }

  /**
   * A store knows a target by its name alone, and an address has many spellings. One of another kind that is still held is
   * held again when it is looked at.
   */
  async #namesOf(target: Pick<Target, 'kind' | 'name'>): Promise<string[]> {
    const key = targetKey(target)
    const held = await this.#ports.heldTargets()
    return [...new Set([target.name, ...held.filter((name) => targetKey({ ...target, name }) === key)])]
  }

  async #ownShare(): Promise<number> {
    const { clock, share } = this.#ports
    const now = clock.monotonic()
    if (now - this.#share.at >= SHARE_MS) this.#share = { part: await share(), at: now }
    return this.#share.part
  }
}

function nameOf(party: PausedParty): string {
  return 'tenant' in party ? `tenant ${party.tenant}` : `target ${targetKey(party.target)}`
}
