/** Removes secrets from what is printed or logged. */
export * from './redact.ts'
