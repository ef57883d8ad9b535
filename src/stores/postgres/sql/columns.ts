import { ALARM_COLUMNS, NUMBER_COLUMNS } from '../../index.ts'

/** The types of `ALARM_COLUMNS`. */
export const ALARM_TYPES = ALARM_COLUMNS.map((column) => (NUMBER_COLUMNS.has(column) ? 'bigint' : 'text'))

/** A timer's columns as they are written after those of its alarm, and their types. */
export const POSITION_COLUMNS = [
  'kind', 'wake_at', 'scheduled_for', 'nominal', 'zone_offset', 'floor', 'tick', 'generation', 'attempt', 'started_at',
  'waiting', 'delivered',
] as const // biome-ignore format: a list
export const POSITION_TYPES = [
  'text', 'bigint', 'bigint', 'bigint', 'bigint', 'bigint', 'bigint', 'bigint', 'bigint', 'bigint', 'text', 'smallint',
] as const // biome-ignore format: a list
