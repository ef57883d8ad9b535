/** The event log: read by cursor, followed live. It is appended by stores, with the change it tells of. */
export { decodeCursor, encodeCursor } from './cursor.ts'
export { Bell, readLog } from './reader.ts'
