/**
 * Errors for what browsers load: the client, and what it shares with the library. Only the texts of reasons that these throw
 * are loaded (10 kB instead of 45 kB); an error from the server brings its text with it.
 */
import { loadReasons } from './reason.ts'
import { CLIENT_REASONS, JSON_REASONS } from './reasons/client.ts'
import { FIELD_REASONS } from './reasons/fields.ts'
import { INSTANT_REASONS } from './reasons/instants.ts'

export { closest } from './closest.ts'
export { type ErrorCode, isErrorCode } from './reason.ts'
export { display, errorText, WakefulError } from './wakeful-error.ts'
export { fromWire, type WireError } from './wire.ts'
export { type ErrorData, libraryField } from './words.ts'

/** The reasons that the client loads. */
export const CORE_REASONS = loadReasons({
  ...FIELD_REASONS,
  ...INSTANT_REASONS,
  ...JSON_REASONS,
  ...CLIENT_REASONS,
})
