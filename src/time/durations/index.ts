/** The side door of this room, for those who must not carry the calendar along: a client in a browser. */

export { type BackoffOptions, backoff } from './backoff.ts'
export { DURATION_MAX_MS, formatDuration, isDuration, parseDuration } from './duration.ts'
export { parseInterval, parseStep } from './every-step.ts'
export { humanizeDuration } from './span.ts'
