export { closest } from '../../errors/core.ts'
export {
  counted,
  joinWithAnd,
  LABEL_LENGTH_MAX,
  MONTH_NAMES,
  normalizeLabel,
  pad2,
  quote,
  TEXT_LENGTH_MAX,
  WEEKDAY_NAMES,
} from './text.ts'
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
