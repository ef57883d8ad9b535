import type { Alarm, Target, Timer } from '../alarm/index.ts'

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

/** What the engine checks for every timer that comes due. */
export interface PauseCheck {
  isPaused(alarm: Alarm, timer: Timer): boolean
}
