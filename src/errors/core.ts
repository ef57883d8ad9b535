/**
 * Errors for what browsers load: the client, and what it shares with the library. Only the texts of reasons that these throw
 * are loaded (8 kB instead of 38 kB); an error from the server brings its text with it.
 */
import './reasons/core.ts'

export { type ErrorCode, isErrorCode } from './reason.ts'
export * from './wakeful-error.ts'
export { type ErrorData, fromWire, libraryField, type WireError } from './words.ts'
