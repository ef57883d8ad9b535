/** Durations alone. The client imports only this submodule, so that a browser does not load the calendar code. */

export { type BackoffOptions, backoff } from './backoff.ts'
export {
  DAY_MS,
  DURATION_MAX_MS,
  formatDuration,
  humanizeDuration,
  isDuration,
  parseDuration,
} from './duration.ts'
export { parseInterval, parseStep } from './every-step.ts'
