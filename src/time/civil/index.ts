/** Dates and times of the wall clock, without zones and clock changes, and the search for those that a rule names. */

export * from './blocks.ts'
export * from './date.ts'
export * from './sequence.ts'
