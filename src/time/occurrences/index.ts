export { countBetween, type InstantCount } from './count-between.ts'
export { daysOffBetween, occurrenceNotes } from './day-off-notes.ts'
export {
  endOfDay,
  firstOccurrence,
  followingOccurrence,
  hasWorkingDay,
  isOnDayOff,
  lastOnWorkingDay,
  type NextOccurrence,
  occurrenceAfter,
  occurrenceFrom,
} from './next-occurrence.ts'
