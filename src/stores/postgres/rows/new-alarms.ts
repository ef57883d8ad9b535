import type { Serial } from '../../../alarm/index.ts'
import { ALARM_COLUMNS } from '../../index.ts'
import type { Bindable } from '../connection/index.ts'
import { ALARM_TYPES, addFigures, POSITION_COLUMNS, POSITION_TYPES } from '../sql/index.ts'

/** The values of an alarm, or those of its first timer behind its shard. */
type Row = readonly (string | Serial | null)[]

const COLUMNS = [...ALARM_COLUMNS.map(alarms), 'shard', ...POSITION_COLUMNS.map(timers)]
const TYPES = [...ALARM_TYPES, 'int', ...POSITION_TYPES]
const ID = COLUMNS.indexOf(alarms('id'))
const PAYLOAD = COLUMNS.indexOf(alarms('payload'))
const CORRELATION = COLUMNS.indexOf(alarms('correlation_id'))
/** Stands between payloads: no JSON holds it. */
const BETWEEN = '\u0001'
const NONE: readonly string[] = []

/** In one order for all, whatever order they were given in: two that set the same keys must not wait for each other. */
const BY_NAME = ` ORDER BY ${['tenant', 'owner', 'idempotency_key', 'key']
  .map((column) => `${value(alarms(column))} COLLATE "C"`)
  .join(', ')}`

/**
 * New alarms with their first timers, all at once. Every column comes as a list, or as the one value that all rows have:
 * most columns of most batches do, and a list of a thousand equal values takes long to write and to read. Payloads come
 * as one text, for they are full of quotes. Numbers are drawn before anything is written, in the order given, so that a
 * timer has its alarm's without looking for it.
 */
export const insertAlarms = insertWith(BY_NAME, '')

/**
 * The same of alarms without keys, with the owners' figures, where nothing else is written: a single statement needs no
 * transaction around it.
 */
export const insertAlarmsAndFigures = insertWith('', `, counted AS (${addFigures(2 * COLUMNS.length + 2)})`)

/** What `insertAlarms` is given for alarms, of which there is at least one, and their first timers. */
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

/** Asked fifty times of a thousand rows: a loop takes a third of what a closure does. */
function isAll(rows: readonly Row[], column: number, value: string | Serial | null): boolean {
  for (let i = 1; i < rows.length; i++) if (rows[i]![column] !== value) return false
  return true
}

/** Payloads as one text; null where one of them is not JSON, as one may be that was damaged in the database. */
function joined(payloads: readonly (string | null)[]): string | null {
  const canJoin = payloads.every((payload) => payload !== '' && !payload?.includes(BETWEEN))
  return canJoin ? payloads.join(BETWEEN) : null
}

function insertWith(order: string, more: string): string {
  return `WITH n AS MATERIALIZED (
    SELECT nextval('wakeful.alarms_seq_seq') AS seq, given.*
    FROM unnest(${COLUMNS.map(list).join(', ')}, string_to_array($${2 * COLUMNS.length + 1}, E'\\x01', ''))
      AS given (${COLUMNS.join(', ')}, payload)),
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
  // One that is not told is the alarm's own id.
  if (at === CORRELATION) return `coalesce(n.${column}, ${same}, n.${COLUMNS[ID]})`
  return `coalesce(n.${column}, ${same})`
}
