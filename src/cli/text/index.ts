export {
  alarmCard,
  historyColumns,
  listColumns,
  noteText,
  ruleText,
  statusText,
  targetOf,
  titleOf,
  wireItems,
} from './alarm-text.ts'
export { count, counted } from './numbers.ts'
export { type Column, card, fits, table } from './table.ts'
export { cut, oneLine, textWidth, wrap } from './text-width.ts'
export { localInstants, localTime, relativeTime, systemZone, timeFor } from './time-text.ts'
