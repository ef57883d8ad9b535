/** For the tests of users: a virtual clock, an engine that is run by hand, and the conformance suite of stores. */

import '../errors/node-version.ts'

export {
  type ConformanceCase,
  conformance as storeConformance,
  type Examinee,
  type OpenStore,
} from '../stores/conformance/index.ts'
export { openTest, type TestBench, type TestOptions } from './open-test.ts'
export { type Stretch, VirtualClock } from './virtual-clock.ts'
