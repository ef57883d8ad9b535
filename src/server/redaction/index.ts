/** Texts as they may be shown or logged: nothing secret is left in them. */
export { withoutPasswords } from './passwords.ts'
export { withoutSecrets } from './secrets.ts'
