import { formatDuration } from '../../time/durations/index.ts'

/** A call of the library that can be given a field. */
export type Call = 'set' | 'edit'

/** Limits on what users may store; all are configurable. */
export interface Limits {
  readonly payloadBytesMax: number
  readonly messageBytesMax: number
  readonly nameBytesMax: number
  readonly batchMax: number
  readonly listMax: number
}

interface AnyField {
  /** One or two sentences for the reference. */
  readonly doc: string
  /** Its name in JSON; null where it is not sent over the network. */
  readonly wire: string | null
  /** The calls that take it. A field without calls is written by Wakeful itself. */
  readonly calls?: readonly Call[]
  /** Only the library takes it: over the network the server fills it in, or it is a header. */
  readonly libraryOnly?: true
  /** Whether a set by key that differs only in this changes nothing. */
  readonly aside?: true
  /** Reads do not return it. */
  readonly writeOnly?: true
  /** Values that JSON leaves out; the first is what a missing field stands for. Without any, the field is always there. */
  readonly omits?: readonly (string | number | null)[]
  /** Lists can filter by it: how the reference describes that filter. */
  readonly filter?: string
  /** Its column in both stores. A field without one is computed from the rule, the timers or the outcome. */
  readonly column?: string
  /** Its property of `Alarm`, if that has another name than the option. */
  readonly property?: string
  /** The value of an alarm that does not set it. */
  readonly defaultValue?: string | number | null
  /** Of a text: the limit of its bytes. Default: the limit of names. */
  readonly limit?: keyof Limits
  /** Of a text: whether an empty one is refused. */
  readonly nonEmpty?: true
  /** Of an integer. */
  readonly min?: number
  readonly max?: number
  /** Of an integer: the maximum over the network, where callers share a server. */
  readonly networkMax?: number
}

/**
 * What is known of one field. Of its types,
 * - a `duration` is a text such as `5m` for callers and milliseconds in the record, and a `trace` is a W3C trace context;
 * - an `instant` is milliseconds in the record, a Date in the library, and ISO 8601 in JSON;
 * - each of `target`, `payload`, `backoff`, `rule`, `pool` and `notes` is handled by name in the code that writes rows
 *   (`stores/rows.ts`) and JSON (`alarm/views/view.ts`): a target has four columns, a backoff two, a payload goes into JSON
 *   byte for byte, and a rule has one name in JSON per kind.
 */
// biome-ignore format: two kinds of types
export type Field = AnyField & (
  | { readonly type: 'choice'; readonly values: readonly string[] }
  | { readonly type: 'text' | 'integer' | 'duration' | 'trace' | 'instant' | 'target' | 'payload' | 'backoff' | 'rule' | 'pool' | 'notes' }
)

const SET = ['set'] as const
const BOTH = ['set', 'edit'] as const

/**
 * The fields of an alarm, in the order of its JSON: first those of Chronos, a predecessor, then Wakeful's own. Options and their checks,
 * columns, JSON, the client's view, the command line's flags and the reference all follow from this table.
 */
// biome-ignore format: a table
export const ALARM_FIELDS = {
  id: { type: 'text', wire: 'id', doc: 'Made when the alarm is set. Ids sort by time.' },
  label: { type: 'text', wire: 'label', column: 'label', calls: BOTH, defaultValue: '',
    filter: 'Exactly this label.', doc: 'A short label for people.' },
  kind: { type: 'choice', wire: 'kind', values: ['once', 'cron', 'rrule', 'every'], doc: 'The kind of its rule.' },
  cronExpr: { type: 'rule', wire: 'cron_expr', omits: [null], doc: 'The cron expression, as it was given.' },
  timezone: { type: 'text', wire: 'timezone', doc: 'The IANA time zone of its rule.' },
  nextFireAt: { type: 'instant', wire: 'next_fire_at', omits: [null],
    doc: 'When it fires next, or is retried. Only while it is active.' },
  conversationId: { type: 'text', wire: 'conversation_id', column: 'conversation_id', calls: BOTH, defaultValue: '', omits: [''],
    filter: 'Exactly this conversation.', doc: 'The conversation to resume. Empty starts a new one.' },
  message: { type: 'text', wire: 'wake_message', column: 'message', calls: BOTH, defaultValue: '', limit: 'messageBytesMax',
    doc: 'The text delivered with the wake.' },
  payload: { type: 'payload', wire: 'payload', calls: BOTH, omits: [null],
    doc: 'Any JSON value. It is returned and delivered byte for byte.' },
  status: { type: 'choice', wire: 'status', doc: 'The status of the alarm.',
    values: ['active', 'paused', 'fired', 'completed', 'failed', 'timed_out', 'cancelled'] },
  idempotencyKey: { type: 'text', wire: 'idempotency_key', column: 'idempotency_key', calls: SET, nonEmpty: true, aside: true,
    defaultValue: null, omits: [null], doc: 'Setting an alarm again with the same one changes nothing and returns the first alarm.' },
  maxFailures: { type: 'integer', wire: 'max_failures', column: 'max_failures', calls: BOTH, defaultValue: 5,
    min: 1, max: 1_000_000, networkMax: 1_000, doc: 'Number of attempts before an occurrence fails.' },
  failureCount: { type: 'integer', wire: 'failure_count', doc: 'Failed attempts of its newest occurrence.' },
  lastError: { type: 'text', wire: 'last_error', omits: [null, ''], doc: 'The error of the newest failed attempt.' },
  createdAt: { type: 'instant', wire: 'created_at', doc: 'When it was set.' },
  lastFiredAt: { type: 'instant', wire: 'last_fired_at', omits: [null], doc: 'When it was last delivered.' },
  rrule: { type: 'rule', wire: 'rrule', omits: [null], doc: 'The RRULE, as it was given.' },
  every: { type: 'rule', wire: 'every', omits: [null], doc: 'The interval, as it was given.' },
  when: { type: 'rule', wire: 'when', omits: [null],
    doc: 'The options of its rule: start, end, count, jitter, misfire, dst, exclude.' },
  fireAt: { type: 'instant', wire: 'fire_at', omits: [null], doc: 'The requested instant of a one-shot alarm.' },
  key: { type: 'text', wire: 'key', column: 'key', calls: SET, nonEmpty: true, defaultValue: null, omits: [null],
    doc: 'Names the alarm. Setting the same key again replaces it.' },
  subject: { type: 'text', wire: 'subject', column: 'subject', calls: BOTH, nonEmpty: true, defaultValue: null, omits: [null],
    filter: 'Exactly this subject.', doc: 'What the alarm is about. Removing a subject cancels its alarms.' },
  // If it is not set, '' is stored, which needs no entry in the index of correlation ids; reads return the alarm's id instead.
  correlationId: { type: 'text', wire: 'correlation_id', column: 'correlation_id', calls: BOTH, nonEmpty: true, defaultValue: '',
    filter: 'Exactly this correlation id.', doc: 'Links the alarm to other work. The alarm’s id by default.' },
  traceparent: { type: 'trace', wire: null, column: 'traceparent', calls: BOTH, libraryOnly: true, aside: true, defaultValue: null,
    doc: 'The W3C trace context of the set (`00-…`). It is sent with every wake.' },
  target: { type: 'target', wire: 'target', calls: BOTH,
    doc: 'Where it is delivered: a URL, the name of a handler, `inbox`, `event` or `default`.' },
  pool: { type: 'pool', wire: 'pool', omits: [null],
    doc: 'The pool that runs it, where the target does not imply it (`app` for a handler, `wakeful` for the rest).' },
  ack: { type: 'choice', wire: 'ack', column: 'ack', calls: BOTH, values: ['delivery', 'report'], defaultValue: 'delivery',
    doc: '`delivery`: done when delivered. `report`: done when the target reports.' },
  overlap: { type: 'choice', wire: 'overlap', column: 'overlap', calls: BOTH, values: ['skip', 'queue', 'allow'],
    defaultValue: 'skip', omits: ['skip'], doc: 'What happens to an occurrence while an earlier one awaits its report.' },
  priority: { type: 'integer', wire: 'priority', column: 'priority', calls: BOTH, min: -100, max: 100, defaultValue: 0, omits: [0],
    doc: 'When several alarms are due, those with a higher priority fire first. From -100 to 100.' },
  backoff: { type: 'backoff', wire: 'backoff', calls: BOTH, writeOnly: true,
    doc: 'The wait before a retry: doubles from the base (5 s) up to the cap (1 h).' },
  timeout: { type: 'duration', wire: 'timeout', property: 'timeoutMs', column: 'timeout_ms', calls: BOTH, writeOnly: true,
    defaultValue: null, doc: 'The time limit of one attempt. Default: 30s for a webhook, 5m for a handler.' },
  completionTimeout: { type: 'duration', wire: 'completion_timeout', property: 'completionTimeoutMs', calls: BOTH, writeOnly: true,
    column: 'completion_timeout_ms', defaultValue: 300_000, doc: 'How long to wait for a report.' },
  onFailure: { type: 'target', wire: 'on_failure', calls: BOTH, writeOnly: true,
    doc: 'The target that is called when the last attempt of an occurrence has failed.' },
  result: { type: 'text', wire: 'result', omits: [null],
    doc: 'What was reported, or `FAILED: …`, `RETRY: …`, `timeout_unknown`.' },
  startedAt: { type: 'instant', wire: 'started_at', omits: [null], doc: 'When its first attempt began.' },
  completedAt: { type: 'instant', wire: 'completed_at', omits: [null],
    doc: 'When it was reported complete, or, with `ack: delivery`, delivered. A failure has none.' },
  durationMs: { type: 'integer', wire: 'duration_ms', omits: [null], doc: 'Milliseconds from its first attempt to its report.' },
  attempts: { type: 'integer', wire: 'attempts', omits: [0], doc: 'Attempts at its newest occurrence.' },
  createdBy: { type: 'text', wire: 'created_by', column: 'created_by', calls: SET, aside: true, defaultValue: null, omits: [null],
    doc: 'Who set it.' },
  createdVia: { type: 'text', wire: 'created_via', column: 'created_via', calls: SET, libraryOnly: true, aside: true, defaultValue: 'library',
    doc: 'The interface it was set through: library, cli, rest, ws, mcp.' },
  declaredBy: { type: 'text', wire: 'declared_by', column: 'declared_by', defaultValue: null, omits: [null],
    doc: 'The name of the `apply` that declared it.' },
  updatedAt: { type: 'instant', wire: 'updated_at',
    doc: 'The version of what was asked: when a call last changed it. A fire or a failure does not. Pass it in `If-Match` to detect concurrent edits.' },
  registeredAt: { type: 'instant', wire: 'registered_at',
    doc: 'When its wait began: when it was last set or rescheduled. Nothing else changes it.' },
  cancelledAt: { type: 'instant', wire: 'cancelled_at', omits: [null],
    doc: 'When it was cancelled. One that was firing then ends with that delivery.' },
  notes: { type: 'notes', wire: 'notes', omits: [null], doc: 'Remarks on the request, such as how an ambiguous time was read.' },
} as const satisfies Readonly<Record<string, Field>>

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

/** The value of a choice, or of another field by its type; a string where `ByType` has no such type. */
type Value<F, ByType> = F extends { values: readonly (infer V)[] }
  ? V
  : F extends { type: infer T extends keyof ByType }
    ? ByType[T]
    : string

type OptionValue<F> = Value<
  F,
  { integer: number; target: TargetSpec; payload: unknown; backoff: Partial<Backoff> }
>

/** What can be said of an alarm beside its *when*, through every interface. */
export type SetOptions = { readonly [K in OptionName]?: OptionValue<Fields[K]> }

type OrNull<F, T> =
  | T
  | (F extends { defaultValue: null } | { omits: readonly [null, ...unknown[]] } ? null : never)

type ColumnValue<F> = OrNull<F, Value<F, { integer: number; duration: number }>>

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

type ViewValue<F> = OrNull<F, Value<F, { integer: number; instant: Date }>>

/** What of an alarm the library returns as JSON does. */
export type PlainFields = { readonly [K in PlainName]: ViewValue<Fields[K]> }

/** The fields that JSON has, and the name of each there. */
export type WireName = Exclude<Having<{ wire: string }>, Having<{ writeOnly: true }>>

type WireValue<F> = F extends { wire: 'when' }
  ? Record<string, unknown>
  : Exclude<
      Value<F, { integer: number; payload: unknown; notes: string[] }>,
      F extends { omits: readonly [infer O] } ? O : never
    >

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
