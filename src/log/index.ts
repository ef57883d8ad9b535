/** The event log: read by cursor, followed live. It is appended by stores, with the change it tells of. */
export { Bell } from './bell.ts'
export { decodeCursor, encodeCursor } from './cursor.ts'
export { readLog } from './reader.ts'
