/** What users hold in their hands, the same in every host. */
export type * from './api.ts'
export { checked } from './options.ts'
export { reviewStore } from './reviews.ts'
export { Upkeep } from './upkeep.ts'
export { WakefulLibrary, type WakefulParts } from './wakeful.ts'
