/** Errors with the texts of all reasons: importing this file loads the whole catalogue. */
export * from './errors/index.ts'
