/** The work of every operation, whichever interface it was called through. */
export { alarmCalls } from './alarms.ts'
export { buildCalls, type Calls, pageQueue } from './build-calls.ts'
export { type CallContext, type CallsOf, defined, type Reply } from './call.ts'
export { inboxCalls } from './inbox.ts'
export { readCalls } from './reads.ts'
