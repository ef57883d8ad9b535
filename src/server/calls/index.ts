/** The work of every operation, whichever interface it was called through. */
export { alarmCalls } from './alarms.ts'
export { buildCalls, type Calls } from './build-calls.ts'
export type { Audit, CallContext, CallsOf, Reply } from './call.ts'
export { inboxCalls } from './inbox.ts'
export { eventsOptions, readCalls } from './reads.ts'
export { type Across, readerOf } from './wide-reads.ts'
