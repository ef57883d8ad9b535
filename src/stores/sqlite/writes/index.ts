export { editSelected } from './edits.ts'
export { PRUNE_QUERIES, prune } from './prune.ts'
export { recomputeSelected, removeCalendar } from './recompute.ts'
export { setAll } from './sets.ts'
