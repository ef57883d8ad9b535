/** The side door of this room, for those who must not carry the calendar along: a client in a browser. */
export { parseDuration } from './duration.ts'
export { parseStep } from './every-step.ts'
