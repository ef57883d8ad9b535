import { type Alarm, type Target, type Timer, targetKey } from '../alarm/index.ts'
import type { WaitingFilter } from '../stores/index.ts'
import type { Clock } from '../time/index.ts'

/** What an operator has paused: a tenant, or a target. */
export type PausedParty = { readonly tenant: string } | { readonly target: Pick<Target, 'kind' | 'name'> }

/** What was resumed, and how fast its paused timers come back. */
export interface Resumed {
  readonly party: PausedParty
  /** When it was resumed: a later time is another catch-up. */
  readonly at: number
  /** Over all processes; null means all at once. */
  readonly perSecond: number | null
}

/** What operators have paused and resumed, answered at once from a copy that is kept fresh. */
export interface PauseState {
  pausedTenants(): ReadonlySet<string>
  /** By `targetKey`. */
  pausedTargets(): ReadonlySet<string>
  /** Those that were resumed, as long as some of their timers may still be paused. */
  resumed(): readonly Resumed[]
  /** None of its timers is paused any more, in the shards that run here. */
  caughtUp?(resumed: Resumed): void
  /** Calls back when it has changed; the answer ends that. */
  onChange(listener: () => void): () => void
}

/** What the limiter needs. */
export interface CatchUpLimiterPorts {
  readonly pauses: PauseState
  readonly clock: Clock
  /** Requeues up to `limit` paused timers in this process's shards; answers how many. */
  readonly requeue: (which: WaitingFilter, limit: number) => Promise<number>
  /** The names of the targets of paused timers in this process's shards. */
  readonly pausedTargets: () => Promise<readonly string[]>
  /** The part of all shards that this process holds, from 0 to 1: it gets this part of the rate. */
  readonly share: () => Promise<number>
  readonly onError: (thrown: unknown) => void
}

/** A catch-up in progress. */
interface CatchUp {
  resumed: Resumed
  /** The names under which timers of a target are paused; null while they are to be looked up. */
  names: readonly string[] | null
  /** How many may be requeued now; grows with time. */
  credit: number
  /** On the monotonic clock: since when nothing was found; null while something is. */
  emptySince: number | null
  isDone: boolean
}

const STEP_MS = 200
/** Requeued in one step where there is no rate: others can write between two steps. */
const REQUEUED_MAX = 5_000
/** A catch-up has ended when nothing was found for this long: a claim that is running may still pause one more. */
const QUIET_MS = 3_000
const SHARE_MS = 5_000

/**
 * Knows what operators have paused, and requeues it after the resume at the given rate, the longest paused first. Until
 * then it stays paused; what comes due after the resume fires at its instant.
 */
export class CatchUpLimiter {
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

  /** Whether an operator has paused it, or it was paused and waits for its catch-up. */
  isPaused({ tenant, target }: Alarm, { waiting }: Timer): boolean {
    const { pauses } = this.#ports
    if (pauses.pausedTenants().has(tenant)) return true
    const targets = pauses.pausedTargets()
    if (targets.size > 0 && targets.has(targetKey(target))) return true
    if (waiting !== 'operator_pause' || this.#catchUps.size === 0) return false
    return this.#isCatchingUp({ tenant }) || this.#isCatchingUp({ target })
  }

  /** Begins to requeue, while its engine runs. */
  start(): void {
    this.#unwatch ??= this.#ports.pauses.onChange(() => this.refresh())
    this.refresh()
  }

  stop(): void {
    this.#unwatch?.()
    this.#unwatch = null
    this.#cancelStep?.()
    this.#cancelStep = null
  }

  /** Shards were gained: something that was resumed long ago may still be paused there. */
  restart(): void {
    this.#catchUps.clear()
    this.#share = { part: 1, at: Number.NEGATIVE_INFINITY }
    this.refresh()
  }

  /** Reads what is paused and resumed now. */
  refresh(): void {
    const { pauses } = this.#ports
    const resumed = pauses.resumed().filter(({ party }) => !this.#isPaused(party))
    const known = new Map(this.#catchUps)
    this.#catchUps.clear()
    for (const each of resumed) {
      const name = nameOf(each.party)
      const before = known.get(name)
      // Its rate may have been changed meanwhile.
      if (before?.resumed.at === each.at) this.#catchUps.set(name, Object.assign(before, { resumed: each }))
      else
        this.#catchUps.set(name, { resumed: each, names: null, credit: 0, emptySince: null, isDone: false })
    }
    this.#schedule()
  }

  #isPaused(party: PausedParty): boolean {
    const { pauses } = this.#ports
    return 'tenant' in party
      ? pauses.pausedTenants().has(party.tenant)
      : pauses.pausedTargets().has(targetKey(party.target))
  }

  #isCatchingUp(party: PausedParty): boolean {
    // Without a loop nothing is requeued: there, a timer is released when it is next looked at.
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
    const { clock, onError } = this.#ports
    this.#cancelStep = null
    this.#isStepping = true
    const passedMs = Math.min(1_000, clock.monotonic() - this.#steppedAt)
    try {
      const share = await this.#ownShare()
      for (const each of this.#catchUps.values()) {
        // Without shards there is nothing to requeue here: `restart` follows with the first of them.
        if (share === 0) each.isDone = true
        if (!each.isDone) await this.#advance(each, passedMs, share)
      }
    } catch (thrown) {
      onError(thrown)
    } finally {
      this.#isStepping = false
      this.#schedule()
    }
  }

  async #advance(each: CatchUp, passedMs: number, share: number): Promise<void> {
    const { pauses, clock } = this.#ports
    const { perSecond } = each.resumed
    // Unused credit is not kept: it would come back as a burst.
    const perStep = perSecond === null ? REQUEUED_MAX : (perSecond * share * passedMs) / 1_000
    each.credit = Math.min(each.credit + perStep, Math.max(1, perStep))
    const limit = Math.floor(each.credit)
    if (limit === 0) return
    const requeued = await this.#requeue(each, limit)
    each.credit -= requeued
    each.emptySince = requeued > 0 ? null : (each.emptySince ?? clock.monotonic())
    each.isDone = each.emptySince !== null && clock.monotonic() - each.emptySince >= QUIET_MS
    if (each.isDone) pauses.caughtUp?.(each.resumed)
  }

  async #requeue(each: CatchUp, limit: number): Promise<number> {
    const { requeue } = this.#ports
    const { party } = each.resumed
    if ('tenant' in party) return requeue({ pausedTenant: party.tenant }, limit)
    each.names ??= await this.#namesOf(party.target)
    let requeued = 0
    for (const pausedTarget of each.names)
      if (requeued < limit) requeued += await requeue({ pausedTarget }, limit - requeued)
    if (requeued === 0) each.names = null
    return requeued
  }

  /**
   * A store knows a target by its name alone, and an address has many spellings. A timer of another kind of target that is
   * still paused is paused again when it is next looked at.
   */
  async #namesOf(target: Pick<Target, 'kind' | 'name'>): Promise<string[]> {
    const key = targetKey(target)
    const paused = await this.#ports.pausedTargets()
    return [...new Set([target.name, ...paused.filter((name) => targetKey({ ...target, name }) === key)])]
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
