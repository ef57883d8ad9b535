import type { Serial } from '../../../alarm/index.ts'
import { ALARM_COLUMNS } from '../../index.ts'
import type { Bindable } from '../connection/index.ts'
import { ALARM_TYPES, addFigures, POSITION_COLUMNS, POSITION_TYPES } from '../sql/index.ts'

/** The values of an alarm, or the shard and the values of its first timer. */
type Row = readonly (string | Serial | null)[]

const COLUMNS = [...ALARM_COLUMNS.map(alarms), 'shard', ...POSITION_COLUMNS.map(timers)]
const TYPES = [...ALARM_TYPES, 'int', ...POSITION_TYPES]
const ID = COLUMNS.indexOf(alarms('id'))
const PAYLOAD = COLUMNS.indexOf(alarms('payload'))
const CORRELATION = COLUMNS.indexOf(alarms('correlation_id'))
/** Separates payloads: JSON cannot contain it. */
const PAYLOAD_SEPARATOR = '\u0001'
const NONE: readonly string[] = []

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
export const insertAlarmsAndFigures = insertWith('', `, counted AS (${addFigures(2 * COLUMNS.length + 2)})`)

/** The parameters of `insertAlarms`; there is at least one alarm. */
export function newAlarmLists(alarmRows: readonly Row[], timerRows: readonly Row[]): Bindable[] {
  const lists: (readonly (string | Serial | null)[])[] = []
  const same: (string | Serial | null)[] = []
  for (const rows of [alarmRows, timerRows]) {
    for (const [column, first] of rows[0]!.entries()) {
      const isSame = lists.length !== ID && isAll(rows, column, first)
      lists.push(isSame ? NONE : rows.map((row) => row[column]!))
      same.push(isSame ? first : null)
    }
  }
  if (alarmRows.every((row) => row[CORRELATION] === row[ID])) lists[CORRELATION] = NONE
  const payloads = same[PAYLOAD] === null ? joined(lists[PAYLOAD] as (string | null)[]) : null
  if (payloads !== null) lists[PAYLOAD] = NONE
  return [...lists, ...same, payloads]
}

/** Called fifty times for a thousand rows: a loop takes a third of the time of a closure. */
function isAll(rows: readonly Row[], column: number, value: string | Serial | null): boolean {
  for (let i = 1; i < rows.length; i++) if (rows[i]![column] !== value) return false
  return true
}

/** Payloads as one text; null if one of them is not JSON, for instance because it was damaged in the database. */
function joined(payloads: readonly (string | null)[]): string | null {
  const canJoin = payloads.every((payload) => payload !== '' && !payload?.includes(PAYLOAD_SEPARATOR))
  return canJoin ? payloads.join(PAYLOAD_SEPARATOR) : null
}

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
  if (at === PAYLOAD) return `coalesce(n.${column}, n.payload, ${same})`
  // An omitted one is the alarm's own id.
  if (at === CORRELATION) return `coalesce(n.${column}, ${same}, n.${COLUMNS[ID]})`
  return `coalesce(n.${column}, ${same})`
}
