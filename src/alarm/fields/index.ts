/** The fields of an alarm, and their validation. Imports nothing that a browser lacks. */

export { blank } from './blank.ts'
export {
  ALARM_OPTIONS,
  type AlarmDefaults,
  assertText,
  DEFAULT_LIMITS,
  DEFAULTS,
  type FieldContext,
  type OptionFields,
  utf8Length,
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
  Limits,
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
export { ALARM_FIELDS, type Field } from './table.ts'
export { isTraceparent } from './traceparent.ts'
