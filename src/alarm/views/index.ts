/** An alarm as users see it: as an object, as JSON, and as a story. */

export * from './failure.ts'
export * from './view.ts'
export * from './why.ts'
