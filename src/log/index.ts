/** The event log: read by cursor, followed live. Stores append to it, in the transaction of the change. */

export { decodeCursor, encodeCursor } from './cursor.ts'
export { LogNotifier } from './log-notifier.ts'
export { rangeOf, readLog } from './reader.ts'
