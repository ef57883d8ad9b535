import type { ALARM_FIELDS } from './table.ts'

type Fields = typeof ALARM_FIELDS

/** The name of a field in the library. */
export type FieldName = keyof Fields

/** When a delivery counts as done: at once, or when the target reports. */
export type Ack = Fields['ack']['values'][number]

/** What happens when an occurrence comes due while an earlier one still awaits its report. */
export type Overlap = Fields['overlap']['values'][number]

/** Where a fire goes, normalized: `name` is what lists and history filter by. */
export interface Target {
  readonly kind: string
  readonly name: string
  readonly config?: Readonly<Record<string, unknown>>
  /** Which processes can run it: `wakeful` for built-in targets, else the pool of the application's handlers. */
  readonly pool: string
}

/** A target as users write it: a handler's name, or an object that names its kind. */
export type TargetSpec = string | { readonly [kind: string]: unknown }

/** Delays between attempts: doubling from the base up to the cap. */
export interface Backoff {
  readonly baseMs: number
  readonly capMs: number
}

/** The fields with a property, by name. */
type Having<P extends object> = { [K in FieldName]: Fields[K] extends P ? K : never }[FieldName]

/** The fields that calls take. */
export type OptionName = Having<{ calls: readonly unknown[] }>

/** The options that are taken over the network. */
export type NetworkOption = Exclude<OptionName, Having<{ libraryOnly: true }>>

/** The options that an edit takes, too. */
export type EditOption = Having<{ calls: readonly ['set', 'edit'] }>

/** The fields that lists can filter by. */
export type FilterName = Having<{ filter: string }>

/** Exact values that lists filter by. */
export type FieldFilters = { readonly [K in FilterName]?: string }

/** The same by their names in JSON. */
export type WireFilters = { [K in FilterName as Fields[K]['wire']]?: string | undefined }

type OptionValue<F> = F extends { type: 'choice'; values: readonly (infer V)[] }
  ? V
  : F extends { type: 'integer' }
    ? number
    : F extends { type: 'target' }
      ? TargetSpec
      : F extends { type: 'payload' }
        ? unknown
        : F extends { type: 'backoff' }
          ? Partial<Backoff>
          : string

/** What can be said of an alarm beside its *when*, through every interface. */
export type SetOptions = { readonly [K in OptionName]?: OptionValue<Fields[K]> }

type OrNull<F, T> =
  | T
  | (F extends { defaultValue: null } | { omits: readonly [null, ...unknown[]] } ? null : never)

type ColumnValue<F> = F extends { type: 'choice'; values: readonly (infer V)[] }
  ? V
  : OrNull<F, F extends { type: 'integer' | 'duration' } ? number : string>

/** The fields that are one column. */
export type ColumnName = Having<{ column: string }>

/** The part of the record that is a column for each field. */
export type RecordFields = {
  readonly [K in ColumnName as Fields[K] extends { property: infer R extends string } ? R : K]: ColumnValue<
    Fields[K]
  >
}

/** The fields whose value in the library and in JSON is the same, or is an instant. */
export type PlainName = Exclude<
  Having<{ type: 'text' | 'choice' | 'integer' | 'instant' }>,
  Having<{ writeOnly: true }>
>

type ViewValue<F> = F extends { type: 'choice'; values: readonly (infer V)[] }
  ? V
  : OrNull<F, F extends { type: 'instant' } ? Date : F extends { type: 'integer' } ? number : string>

/** What of an alarm the library returns as JSON does. */
export type PlainFields = { readonly [K in PlainName]: ViewValue<Fields[K]> }

/** The fields that JSON has, and the name of each there. */
export type WireName = Exclude<Having<{ wire: string }>, Having<{ writeOnly: true }>>

type WireValue<F> = F extends { type: 'choice'; values: readonly (infer V)[]; omits: readonly [infer O] }
  ? Exclude<V, O>
  : F extends { type: 'choice'; values: readonly (infer V)[] }
    ? V
    : F extends { type: 'integer' }
      ? number
      : F extends { type: 'payload' }
        ? unknown
        : F extends { type: 'notes' }
          ? string[]
          : F extends { wire: 'when' }
            ? Record<string, unknown>
            : string

/** The options of a request by their names in JSON, each with its value there. */
export type BodyFields<Name extends NetworkOption> = {
  [K in Name as Fields[K]['wire']]: K extends 'backoff'
    ? { base_ms?: number; cap_ms?: number }
    : Required<SetOptions>[K]
}

/** An alarm in JSON. */
export type AlarmJson = {
  [K in WireName as Fields[K] extends { omits: readonly unknown[] } ? never : Fields[K]['wire']]: WireValue<
    Fields[K]
  >
} & {
  [K in WireName as Fields[K] extends { omits: readonly unknown[] } ? Fields[K]['wire'] : never]?: WireValue<
    Fields[K]
  >
}

/** Limits on what users may store; all are configurable. */
export interface Limits {
  readonly payloadBytesMax: number
  readonly messageBytesMax: number
  readonly nameBytesMax: number
  readonly batchMax: number
  readonly listMax: number
}
