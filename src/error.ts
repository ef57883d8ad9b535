/** Errors with the texts of all reasons: importing this file loads the whole catalogue. */
export {
  display,
  type ErrorCode,
  errorText,
  inField,
  unknownField,
  WakefulError,
} from './errors/index.ts'
