/** Events as users see them, their filters, and the events that users append. */

export type * from './api.ts'
export { eventData, eventView, userEvent } from './events.ts'
export { eventFilterOf } from './filter.ts'
