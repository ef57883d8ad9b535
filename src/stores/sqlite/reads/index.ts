export { DOCUMENT_QUERIES, documentNamed, putDocument } from './documents.ts'
export { appendEvent, EVENT_QUERIES, LOG_QUERIES, readEvents } from './events.ts'
export { availableWakes, claimWakes, INBOX_QUERIES, insertWake, putWake } from './inbox.ts'
export { list, STREAM_QUERIES, UPCOMING } from './list.ts'
