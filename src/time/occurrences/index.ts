export { type Counted, countBetween } from './count-between.ts'
export { daysOffBetween, standingNotes } from './day-off-notes.ts'
export {
  endOfDay,
  firstStanding,
  isDayOff,
  lands,
  lastOpen,
  type NextOccurrence,
  standingAfter,
  standingFrom,
  standingNext,
} from './next-occurrence.ts'
