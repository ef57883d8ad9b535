export { countBetween, type InstantCount, nthAfter } from './count-between.ts'
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
export { daysOffBetween, occurrenceNotes } from './notes.ts'
