/** Wakeful makes time durable: set an alarm, kill everything, be woken. */

import './errors/node-version.ts'

export type { AlarmView as Alarm } from './alarm/index.ts'
export {
  type AlarmView,
  RawJson,
  rawJson,
  type SetOptions,
  type Status,
  type Story,
  type TargetSpec,
} from './alarm/index.ts'
export { type ErrorCode, WakefulError } from './error.ts'
export { type OpenOptions, open } from './hosts/node/index.ts'
export type * from './library/index.ts'
export type { When } from './time/index.ts'
