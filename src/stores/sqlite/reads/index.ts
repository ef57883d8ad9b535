export { DOCUMENT_QUERIES, documentNamed, listDocuments, putDocument } from './documents.ts'
export { appendEvent, readEvents } from './events.ts'
export { availableWakes, claimWakes, INBOX_QUERIES, insertWake, putWake, removeWake } from './inbox.ts'
export { list, STREAM_QUERIES, UPCOMING } from './list.ts'
