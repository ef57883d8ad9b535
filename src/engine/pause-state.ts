import type { Alarm, Target, Timer } from '../alarm/index.ts'

/** Whom an operator has paused: a tenant, or a target. */
export type PausedParty = { readonly tenant: string } | { readonly target: Pick<Target, 'kind' | 'name'> }

/** Who was resumed, and how fast what was held comes back. */
export interface Resumed {
  readonly party: PausedParty
  /** When it was: a later one is another catch-up. */
  readonly at: number
  /** Over all processes; null is all at once. */
  readonly perSecond: number | null
}

/** What operators have paused and resumed, as this process knows it: answers at once, from a copy that is kept fresh. */
export interface PauseState {
  pausedTenants(): ReadonlySet<string>
  /** Each as `targetKey` names it. */
  pausedTargets(): ReadonlySet<string>
  /** Those who were resumed, as long as something of theirs may be held yet. */
  resumed(): readonly Resumed[]
  /** Told that nothing of theirs is held any more, in the shards that run here. */
  caughtUp?(resumed: Resumed): void
  /** Calls back when it has changed. Answers how to stop. */
  onChange(listener: () => void): () => void
}

/** What the engine asks of every timer that comes due. */
export interface PauseCheck {
  isPaused(alarm: Alarm, timer: Timer): boolean
}
