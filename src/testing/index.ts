/** For users' own tests: time that passes when it is told to, and an engine run by hand. */
export { openTest, type TestBench, type TestOptions } from './open-test.ts'
export { type Stretch, VirtualClock } from './virtual-clock.ts'
