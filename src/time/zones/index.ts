export { DST_DEFAULT, type DstPolicy } from './dst.ts'
export { assertInstant, formatInstant, INSTANT_MAX, INSTANT_MIN, parseInstant } from './instant.ts'
export { parseIso } from './iso.ts'
export { formatDay, instantOfWall, localDay, parseDay, whenDayComes } from './local-day.ts'
export { temporal } from './temporal.ts'
export { assertTimezone, zoneNote } from './timezone.ts'
export {
  formatLocal,
  place,
  type Stretch,
  shiftedNote,
  showClock,
  stretchAt,
  twiceNote,
  zoned,
} from './wall-time.ts'
export { type Instants, type NextWall, placeWalls, type WallTimes } from './wall-times.ts'
