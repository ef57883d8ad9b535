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

/** The columns of tallies: what is counted of each owner's alarms. */
export const TALLIED = [
  'total', 'pending', 'fired', 'completed', 'failed', 'cancelled', 'timed_out', 'duration_ms_sum', 'duration_count',
] as const // biome-ignore format: a list

/**
 * Adds to owners' tallies; its parameters begin at this number. A user's transaction, which has no slot, gets a row of its
 * own: others must not wait for it.
 */
export function addTalliesFrom(from: number): string {
  const sums = TALLIED.map((_, at) => `$${from + 3 + at}::bigint[]`).join(', ')
  const columns = TALLIED.join(', ')
  return `INSERT INTO wakeful.tallies AS t (tenant, owner, slot, ${columns})
    SELECT n.tenant, n.owner, coalesce($${from}::bigint, nextval('wakeful.tally_slots')), ${TALLIED.map((each) => `n.${each}`).join(', ')}
    FROM unnest($${from + 1}::text[], $${from + 2}::text[], ${sums}) AS n (tenant, owner, ${columns})
    ON CONFLICT (tenant, owner, slot) DO UPDATE SET ${TALLIED.map((each) => `${each} = t.${each} + excluded.${each}`).join(', ')}`
}
