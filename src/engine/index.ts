/** The clock loop: own, wait, claim, fire, settle. Knows ports only. */

export type { DeliveryLimits } from './admission.ts'
export { CatchUpLimiter, type CatchUpLimiterPorts } from './catch-up-limiter.ts'
export { Engine, type EngineOptions } from './engine.ts'
export { type ObservedAttempt, type Observer, WATCHED_CALLS, watched } from './observer.ts'
export type { PauseCheck, PausedParty, PauseState, Resumed } from './pause-state.ts'
