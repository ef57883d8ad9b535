export { assertInstant, formatInstant, INSTANT_MAX, INSTANT_MIN, parseInstant } from './instant.ts'
export { parseIso } from './iso.ts'
export { formatDay, instantOfWallTime, localDay, parseDay, startOfDay } from './local-day.ts'
export { temporal } from './temporal.ts'
export { assertTimezone, zoneNote } from './timezone.ts'
export {
  formatLocal,
  formatTimeOfDay,
  gapNote,
  type OffsetPeriod,
  offsetPeriodAt,
  overlapNote,
  repetitionAt,
  resolveWallTime,
  skippedWallTimeAt,
  zoned,
} from './wall-time.ts'
export {
  DST_DEFAULT,
  type DstPolicy,
  type Instants,
  instantsOfWallTimes,
  type NextWallTime,
  type WallTimes,
} from './wall-times.ts'
