/** The event log: read by cursor, followed live. It is appended by stores, with the change it tells of. */

export { decodeCursor, encodeCursor } from './cursor.ts'
export { LogNotifier } from './log-notifier.ts'
export { readLog } from './reader.ts'
