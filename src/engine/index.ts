/** The clock loop: own, wait, take, fire, settle. Knows ports only. */
export { Engine, type EngineOptions } from './engine.ts'
export type { HeldParty, HoldBook, Holds, Resumed } from './hold-book.ts'
export type { DeliveryLimits } from './limits.ts'
export { observed, WATCHED_CALLS } from './observed.ts'
export type { ObservedAttempt, Observer } from './observer.ts'
export { Pacer, type PacerPorts } from './pacer.ts'
