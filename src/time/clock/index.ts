export type { Clock } from './clock.ts'
export { JumpTolerantClock } from './jump-tolerant-clock.ts'
export { measureSearchWork, recordSearchWork, Yielder } from './search-work.ts'
