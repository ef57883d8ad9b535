export type { Clock } from './clock.ts'
export { JumpTolerantClock } from './jump-tolerant-clock.ts'
export { startWork, worked } from './search-budget.ts'
export { Yielding } from './yielding.ts'
