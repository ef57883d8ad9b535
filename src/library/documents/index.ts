/** What is stored as documents: the cache that reads them, default targets, and the names of registered handlers. */

export { CACHE_MS_MAX, type CachedDocument, CachedDocuments } from './cached-documents.ts'
export { DEFAULT_SPEC, type DefaultTarget, DefaultTargets } from './default-target.ts'
export { HandlerNames, type NameJudge, otherNotes, targetNotes } from './handler-names.ts'
export { KeyedQueue } from './keyed-queue.ts'
