export type { Clock } from './clock.ts'
export { ScepticalClock } from './jump-tolerant-clock.ts'
export { startWork, worked } from './search-budget.ts'
export { Turns } from './yielding.ts'
