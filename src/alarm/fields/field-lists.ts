import type { PlainName, WireName } from './field-types.ts'
import { ALARM_FIELDS, type Field } from './table.ts'

const ALL = Object.entries<Field>(ALARM_FIELDS)

/** A field that is one column: its name in the record, its column, and what the record has where it is not given. */
export interface Column {
  readonly name: string
  readonly column: string
  readonly isNumber: boolean
  readonly empty: string | number | null
}

/** The fields that are one column each. */
export const COLUMNS: readonly Column[] = ALL.flatMap(([name, field]) => {
  if (!('column' in field) || field.column === undefined) return []
  const isNumber = field.type === 'integer' || field.type === 'duration'
  return [{ name: field.record ?? name, column: field.column, isNumber, empty: field.empty ?? null }]
})

/** The fields that views and JSON both have, as the same value or as an instant. */
export const PLAIN_NAMES = ALL.filter(
  ([, { type, writeOnly }]) => !writeOnly && ['text', 'choice', 'integer', 'instant'].includes(type),
).map(([name]) => name as PlainName)

/** The fields of an alarm in JSON, in their order. */
export const WIRE_NAMES = ALL.filter(([, { wire, writeOnly }]) => wire !== null && !writeOnly).map(
  ([name]) => name as WireName,
)
