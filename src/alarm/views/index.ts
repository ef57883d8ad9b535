/** An alarm as users see it: as an object, as JSON, and as a story. */

export { type AlarmView, readPayload, viewOf } from './view.ts'
export { type Story, type StoryLine, skippedText, why } from './why.ts'
export { wireJson } from './wire.ts'
