/** The clock loop: own, wait, claim, fire, settle. Knows ports only. */

export type { DeliveryLimits } from './admission.ts'
export { CatchUpLimiter, type PausedParty, type PauseState, type Resumed } from './catch-up-limiter.ts'
export { Engine, type EngineOptions } from './engine.ts'
export { type ObservedAttempt, type Observer, reportAndRethrow, WATCHED_CALLS } from './observer.ts'
