import { formatDuration } from '../../time/durations/index.ts'
import {
  ALARM_FIELDS,
  type Call,
  type Field,
  type FieldFilters,
  type FilterName,
  type NetworkOption,
  type PlainName,
  type WireFilters,
  type WireName,
} from './table.ts'

const ALL = Object.entries<Field>(ALARM_FIELDS)

/** A field that is one column: its name in the record, its column, and its value in the record when omitted. */
export interface Column {
  readonly name: string
  readonly column: string
  readonly isNumber: boolean
  readonly defaultValue: string | number | null
}

/** The fields that are one column each. */
export const FIELD_COLUMNS: readonly Column[] = ALL.flatMap(([name, field]) => {
  const { type, column, property = name, defaultValue = null } = field
  if (column === undefined) return []
  return { name: property, column, isNumber: type === 'integer' || type === 'duration', defaultValue }
})

/** The fields that views and JSON both have, as the same value or as an instant. */
export const PLAIN_NAMES = ALL.filter(
  ([, { type, writeOnly }]) => !writeOnly && ['text', 'choice', 'integer', 'instant'].includes(type),
).map(([name]) => name as PlainName)

/** The fields of an alarm in JSON, in their order. */
export const WIRE_NAMES = ALL.filter(([, { wire, writeOnly }]) => wire !== null && !writeOnly).map(
  ([name]) => name as WireName,
)

/** The options that a call takes over the network. */
export function networkOptions(call: Call): readonly NetworkOption[] {
  const accepted = ALL.filter(([, { calls, libraryOnly }]) => calls?.includes(call) && !libraryOnly)
  return accepted.map(([name]) => name as NetworkOption)
}

/** The fields that lists can filter by. */
export const FILTER_NAMES = ALL.filter(([, { filter }]) => filter !== undefined).map(
  ([name]) => name as FilterName,
)

/** The names of those filters, for a check of options. */
export const FILTERS = Object.fromEntries(FILTER_NAMES.map((name) => [name, true])) as {
  readonly [K in FilterName]: true
}

/** Filters in the library's names, from those of JSON. */
export function readFilters(wire: WireFilters): FieldFilters {
  const input = FILTER_NAMES.map((name) => [name, wire[ALARM_FIELDS[name].wire]] as const)
  return Object.fromEntries(input.filter(([, value]) => value !== undefined))
}

/** The pool of a target by its name: JSON has a pool only where it is another. */
export function impliedPool(target: string): string {
  return /^(?:event|inbox|default)$|^https?:/.test(target) ? 'wakeful' : 'app'
}

/** The default of an option as the reference has it; null where it is none, or empty. */
export function defaultText({ type, defaultValue: value = null }: Field): string | null {
  if (value === null || value === '') return null
  return type === 'duration' ? formatDuration(Number(value)) : String(value)
}

/**
 * An object with these properties, all null, to be copied with a spread and then filled. V8 keeps thirty properties that are
 * added to an object by computed names in a hash table, which takes three times the memory and ten times as long; an object
 * that was parsed from JSON has them in place, and so does its copy.
 */
export function blank<T>(names: readonly (keyof T & string)[]): { -readonly [K in keyof T]: T[K] } {
  return JSON.parse(JSON.stringify(Object.fromEntries(names.map((name) => [name, null]))))
}
