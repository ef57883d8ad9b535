/** The public interface of Wakeful in a program, the same in every host. */

export { checked, ofItem, withDefaults, withoutUndefined } from '../alarm/index.ts'
export type { DeliveryLimits, PausedParty, PauseState, Resumed } from '../engine/index.ts'
export { WATCHED_CALLS } from '../engine/index.ts'
export type * from './api.ts'
export { assemble } from './assemble.ts'
export { CACHE_MS_MAX, type CachedDocument, CachedDocuments } from './cached-documents.ts'
export type { Assembly } from './context.ts'
export type * from './events-api.ts'
export { takeOf } from './inbox.ts'
export type * from './readings.ts'
export { notFound } from './reads.ts'
export { eventWire, oneLineJson, wireRule, wireText, withFields } from './wire-text.ts'
