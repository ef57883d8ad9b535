export type * from './clock.ts'
export { JumpTolerantClock } from './jump-tolerant-clock.ts'
export * from './search-work.ts'
