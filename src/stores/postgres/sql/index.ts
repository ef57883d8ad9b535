export { ALARM_TYPES, PLACE_COLUMNS, PLACE_TYPES } from './columns.ts'
export * from './queries.ts'
export { addFigures } from './tally-columns.ts'
