/** Removes secrets from what is printed or logged. */
export { redacted, redactedError, redactedText } from './deep.ts'
export { withoutPasswords } from './secrets.ts'
