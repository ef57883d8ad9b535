/** Errors with the texts of all reasons: importing this file loads the whole catalogue. */
export {
  aboutField,
  assertMembers,
  display,
  type ErrorCode,
  errorText,
  inField,
  typeName,
  unknownField,
  WakefulError,
} from './errors/index.ts'
