/** What can be said of an alarm, and what is accepted. Loads nothing that a browser lacks. */

export { blank } from './blank.ts'
export {
  ALARM_OPTIONS,
  type AlarmDefaults,
  DEFAULTS,
  type FieldContext,
  type OptionFields,
  writeOptions,
} from './check.ts'
export {
  defaultText,
  FIELD_COLUMNS,
  FILTER_NAMES,
  FILTERS,
  networkOptions,
  PLAIN_NAMES,
  readFilters,
  WIRE_NAMES,
} from './field-lists.ts'
export type {
  Ack,
  AlarmJson,
  Backoff,
  BodyFields,
  ColumnName,
  EditOption,
  FieldFilters,
  FieldName,
  FilterName,
  NetworkOption,
  OptionName,
  Overlap,
  PlainFields,
  PlainName,
  SetOptions,
  Target,
  TargetSpec,
  WireFilters,
  WireName,
} from './field-types.ts'
export { assertText, DEFAULT_LIMITS, type Limits, utf8Length } from './limits.ts'
export { ALARM_FIELDS, type Field } from './table.ts'
export { isTraceparent } from './traceparent.ts'
