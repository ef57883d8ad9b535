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
export { COLUMNS, PLAIN_NAMES, WIRE_NAMES } from './field-lists.ts'
export type {
  Ack,
  AlarmJson,
  Backoff,
  ColumnName,
  FieldName,
  OptionName,
  Overlap,
  PlainFields,
  PlainName,
  SetOptions,
  Target,
  TargetSpec,
  WireName,
} from './field-types.ts'
export { assertText, DEFAULT_LIMITS, type Limits, utf8Length } from './limits.ts'
export { ALARM_FIELDS, type Field } from './table.ts'
export { isTraceparent } from './traceparent.ts'
