/** What can be said of an alarm, and what is accepted. Loads nothing that a browser lacks. */

export { assertText, DEFAULT_LIMITS, type Limits, utf8Length } from './limits.ts'
export { payloadText } from './payload.ts'
export { isTraceparent, traceparentOf } from './traceparent.ts'
