/** Texts as they may be shown or logged: nothing secret is left in them. */
export { redacted, redactedError, redactedText } from './deep.ts'
export { withoutPasswords } from './passwords.ts'
