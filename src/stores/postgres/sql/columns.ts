import { ALARM_COLUMNS } from '../../index.ts'

/** Which of an alarm's columns are numbers; the rest are text. */
const NUMBERS: ReadonlySet<string> = new Set([
  'generation', 'fire_at', 'max_failures', 'backoff_base_ms', 'backoff_cap_ms', 'timeout_ms',
  'completion_timeout_ms', 'priority', 'created_at', 'updated_at', 'paused_at', 'cancelled_at',
]) // biome-ignore format: a list

/** The types of `ALARM_COLUMNS`. */
export const ALARM_TYPES = ALARM_COLUMNS.map((column) => (NUMBERS.has(column) ? 'bigint' : 'text'))

/** A timer's columns as they are written after those of its alarm, and their types. */
export const PLACE_COLUMNS = [
  'kind', 'wake_at', 'scheduled_for', 'nominal', 'zone_offset', 'floor', 'tick', 'generation', 'attempt', 'started_at',
  'waiting', 'delivered',
] as const // biome-ignore format: a list
export const PLACE_TYPES = [
  'text', 'bigint', 'bigint', 'bigint', 'bigint', 'bigint', 'bigint', 'bigint', 'bigint', 'bigint', 'text', 'smallint',
] as const // biome-ignore format: a list
