/** For users' own tests: time that passes when it is told to, an engine run by hand, and what a store must do. */
export {
  type ConformanceCase,
  conformance as storeConformance,
  type Examinee,
  type OpenStore,
} from '../stores/conformance/index.ts'
export { openTest, type TestBench, type TestOptions } from './open-test.ts'
export { type Stretch, VirtualClock } from './virtual-clock.ts'
