export { editSelected } from './edits.ts'
export { PRUNE_QUERIES, prune } from './prune.ts'
export { removeCalendar, reviewSelected } from './reviews.ts'
export { setAll } from './sets.ts'
