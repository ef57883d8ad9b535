import { ALARM_COLUMNS } from '../../index.ts'
import { ALARM_TYPES, addTalliesFrom, POSITION_COLUMNS, POSITION_TYPES } from './columns.ts'

/** The columns of new alarms: those of an alarm, its first timer's shard, and those of the timer. */
const COLUMNS = [...ALARM_COLUMNS.map(alarms), 'shard', ...POSITION_COLUMNS.map(timers)]
const TYPES = [...ALARM_TYPES, 'int', ...POSITION_TYPES]

/** Always in the same order: two batches that set the same keys must not deadlock. */
const BY_NAME = ` ORDER BY ${['tenant', 'owner', 'idempotency_key', 'key']
  .map((column) => `${value(alarms(column))} COLLATE "C"`)
  .join(', ')}`

/**
 * Inserts new alarms with their first timers. Each column is an array, or one value if all rows have the same: most
 * columns of most batches do, and an array of a thousand equal values is slow to write and parse. Payloads are one
 * joined text, because they are full of quotes. The numbers are drawn first, in the order of the input, so that a
 * timer gets its alarm's number without a lookup.
 */
export const insertAlarms = insertWith(BY_NAME, '')

/**
 * The same for alarms without keys, together with the owners' tallies, where nothing else is written: a single
 * statement needs no transaction.
 */
export const insertAlarmsAndTallies = insertWith(
  '',
  `, counted AS (${addTalliesFrom(2 * COLUMNS.length + 2)})`,
)

function insertWith(order: string, more: string): string {
  return `WITH n AS MATERIALIZED (
    SELECT nextval('wakeful.alarms_seq_seq') AS seq, input.*
    FROM unnest(${COLUMNS.map(list).join(', ')}, string_to_array($${2 * COLUMNS.length + 1}, E'\\x01', ''))
      AS input (${COLUMNS.join(', ')}, payload)),
  made AS (INSERT INTO wakeful.alarms (seq, ${ALARM_COLUMNS.join(', ')})
    SELECT n.seq, ${ALARM_COLUMNS.map((column) => value(alarms(column))).join(', ')} FROM n${order})${more}
  INSERT INTO wakeful.timers (alarm, tenant, owner, target, shard, ${POSITION_COLUMNS.join(', ')}, version, edited)
  SELECT n.seq, ${['tenant', 'owner', 'target'].map((column) => value(alarms(column))).join(', ')}, ${value('shard')},
    ${POSITION_COLUMNS.map((column) => value(timers(column))).join(', ')}, 1, 0 FROM n`
}

function alarms(column: string): string {
  return `alarm_${column}`
}

function timers(column: string): string {
  return `timer_${column}`
}

function list(_: string, at: number): string {
  return `$${at + 1}::${TYPES[at]}[]`
}

function value(column: string): string {
  const at = COLUMNS.indexOf(column)
  const same = `$${COLUMNS.length + at + 1}::${TYPES[at]}`
  if (column === alarms('payload')) return `coalesce(n.${column}, n.payload, ${same})`
  // An omitted one is the alarm's own id.
  if (column === alarms('correlation_id')) return `coalesce(n.${column}, ${same}, n.${alarms('id')})`
  return `coalesce(n.${column}, ${same})`
}
