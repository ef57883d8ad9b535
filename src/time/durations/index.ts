/** Durations alone. The client imports only this submodule, so that a browser does not load the calendar code. */

export * from './backoff.ts'
export * from './duration.ts'
export * from './every-step.ts'
export * from './when-names.ts'
