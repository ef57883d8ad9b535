/** The fields of an alarm, and their validation. Imports nothing that a browser lacks. */

export * from './check.ts'
export * from './table.ts'
