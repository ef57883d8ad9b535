/** The clock loop: own, wait, take, fire, settle. Knows ports only. */

export { CatchUpLimiter, type CatchUpLimiterPorts } from './catch-up-limiter.ts'
export { Engine, type EngineOptions } from './engine.ts'
export type { DeliveryLimits } from './limits.ts'
export { observed, WATCHED_CALLS } from './observed.ts'
export type { ObservedAttempt, Observer } from './observer.ts'
export type { PauseCheck, PausedParty, PauseState, Resumed } from './pause-state.ts'
