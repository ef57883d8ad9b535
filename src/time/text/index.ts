export { closest } from './closest.ts'
export { LABEL_LENGTH_MAX, normalizeLabel } from './label.ts'
export { quote, TEXT_LENGTH_MAX } from './text.ts'
export {
  looksLikeZone,
  MONTHS,
  NUMBERS,
  ordinal,
  RECURRING,
  UNITS,
  type Unit,
  WEEKDAYS,
  wordsOf,
} from './word-lists.ts'
