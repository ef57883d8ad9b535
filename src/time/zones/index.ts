export * from './canonical.ts'
export { parseInstant, parseIso } from './instant.ts'
export * from './temporal.ts'
export * from './wall-time.ts'
export {
  DST_DEFAULT,
  type DstPolicy,
  fixedInterval,
  type Instants,
  instantsOfWallTimes,
  type NextWallTime,
  type WallTimes,
  wallTimesOf,
} from './wall-times.ts'
