export type { Clock } from './clock.ts'
export { JumpTolerantClock } from './jump-tolerant-clock.ts'
export { measureSearchWork, recordSearchWork } from './search-budget.ts'
export { Yielder } from './yielding.ts'
