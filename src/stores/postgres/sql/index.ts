export { ALARM_TYPES, POSITION_COLUMNS, POSITION_TYPES } from './columns.ts'
export * from './queries.ts'
export { addFigures } from './tally-columns.ts'
