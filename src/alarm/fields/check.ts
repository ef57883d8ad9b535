import { assertMembers, display, inField, typeName, unknownField, WakefulError } from '../../error.ts'
import { jsonText } from '../../json/index.ts'
import { assertDurationText, parseDuration, WHEN_OPTIONS } from '../../time/durations/index.ts'
import {
  ALARM_FIELDS,
  type Backoff,
  type Call,
  type Field,
  type Limits,
  type OptionName,
  type RecordFields,
  type SetOptions,
  type Target,
  type TargetSpec,
} from './table.ts'

/** What an alarm gets where its options say nothing. */
export interface AlarmDefaults {
  readonly maxFailures: number
  readonly backoffBaseMs: number
  readonly backoffCapMs: number
  readonly completionTimeoutMs: number
}

/** The defaults of the contract. */
export const DEFAULTS: AlarmDefaults = {
  maxFailures: ALARM_FIELDS.maxFailures.defaultValue,
  backoffBaseMs: 5_000,
  backoffCapMs: 3_600_000,
  completionTimeoutMs: ALARM_FIELDS.completionTimeout.defaultValue,
}

/** A hundred years. */
const DURATION_MS_MAX = 36_500 * 86_400_000
const BACKOFF_BASE_MS_MAX = 86_400_000
const BACKOFF_CAP_MS_MAX = 31 * 86_400_000
const BACKOFF_NAMES = ['baseMs', 'capMs'] satisfies (keyof Backoff)[]

/** The names of the options an alarm has. */
export const ALARM_OPTIONS = Object.fromEntries(
  Object.entries<Field>(ALARM_FIELDS).flatMap(([name, { calls }]) =>
    calls === undefined ? [] : [[name, true]],
  ),
) as { readonly [K in OptionName]: true }

/** What the values of fields depend on. */
export interface FieldContext {
  readonly limits: Limits
  readonly defaults: AlarmDefaults
  readonly target: (spec: TargetSpec, field: string) => Target
}

/** The part of the record that options can write. */
export type OptionFields = RecordFields & {
  readonly payload: string | null
  readonly target: Target
  readonly backoff: Backoff
  readonly onFailure: Target | null
}

/** What a caller defines of an alarm: the properties of its record that a set by key compares. */
export const DEFINING_PROPERTIES = Object.entries<Field>(ALARM_FIELDS)
  .filter(([, { calls, aside }]) => calls?.includes('set') && !aside)
  .map(([name, { property = name }]) => property as keyof OptionFields)

/** Checks the values of options whose names are known, and writes those that are present into a record. */
export function writeOptions(
  record: { -readonly [K in keyof OptionFields]?: OptionFields[K] },
  options: SetOptions,
  call: Call,
  context: FieldContext,
): void {
  const written = record as Record<string, unknown>
  for (const name of Object.keys(options)) {
    const field: Field = ALARM_FIELDS[name as OptionName]
    const value = options[name as OptionName]
    if (value === undefined) continue
    if (!field.calls!.includes(call)) throw new WakefulError('field.immutable', {}, { field: name })
    written[field.property ?? name] = recordValue(name, field, value, context)
  }
}

/** The value of a field in the record. Null gives a text, a choice or a number its default again. */
function recordValue(name: string, field: Field, value: unknown, context: FieldContext): unknown {
  const { limits, defaults, target } = context
  switch (field.type) {
    case 'text': {
      if (value === null) return field.defaultValue
      const assert = field.nonEmpty ? assertName : assertText
      return assert(name, value, limits[field.limit ?? 'nameBytesMax'])
    }
    case 'choice':
      return value === null ? field.defaultValue : assertChoice(name, value, field.values)
    case 'integer':
      if (value === null) return name === 'maxFailures' ? defaults.maxFailures : field.defaultValue
      return assertInteger(name, value, field.min!, field.max!)
    case 'duration':
      return durationOf(name, value)
    case 'trace':
      return traceparentOf(value)
    case 'payload':
      return payloadText(value, limits)
    case 'target':
      return target(value as TargetSpec, name)
    case 'backoff':
      return backoffOf(value, defaults)
    default:
      throw new Error(`the field ${name} cannot be set`)
  }
}

/** The names a call's options may have; the compiler checks that they are the interface's, all of them. */
type Names<T> = { readonly [K in keyof Required<T>]: unknown }

/** Refuses options that are none, or that name what the call does not know: a typo must not change what is done. */
export function checked<T extends object>(call: string, options: unknown, names: Names<T>): T {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new WakefulError('options.not_object', { call, value: typeName(options) })
  }
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(names, name)) continue
    if (WHEN_OPTIONS.includes(name))
      throw new WakefulError('field.misplaced', { call, name }, { field: name })
    throw unknownField(name, Object.keys(names))
  }
  return options as T
}

/** Refuses what is no list. */
export function checkedList<T>(call: string, items: unknown, of: string): readonly T[] {
  if (Array.isArray(items)) return items as T[]
  throw new WakefulError('argument.not_list', { call, of, value: typeName(items) })
}

/** Refuses what is neither left out nor a text. */
export function checkedText(name: string, value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  throw new WakefulError('field.invalid', { expected: 'a string', value: typeName(value) }, { field: name })
}

/** Runs work for one of many items, whose index is added to its errors. */
export function ofItem<T>(at: number, work: () => T): T {
  return inField(`items[${at}]`, work)
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> }

/** The fields that are not undefined: an optional field must be absent, not `undefined` (`exactOptionalPropertyTypes`). */
export function withoutUndefined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>
}

/** Options with their defaults, whose names are all that the call knows. */
export function withDefaults<T extends object, D extends Names<T>>(call: string, options: T, defaults: D) {
  type All = { readonly [K in keyof T & keyof D]-?: D[K] | Exclude<T[K], undefined> }
  return { ...defaults, ...withoutUndefined(checked<T>(call, options, defaults)) } as All
}

/** Refuses what is not one of a few texts. */
export function assertChoice<T extends string>(field: string, value: unknown, allowed: readonly T[]): T {
  if (allowed.includes(value as T)) return value as T
  throw new WakefulError('field.not_one_of', { allowed, value: display(value) }, { field })
}

/** Refuses what is not a whole number in a range; without a maximum any that is exact. */
export function assertInteger(field: string, value: unknown, min: number, max: number | null): number {
  const number = value as number
  if (Number.isInteger(value) && number >= min && number <= (max ?? Number.MAX_SAFE_INTEGER)) return number
  throw new WakefulError('field.not_whole_number', { min, max, value: display(value) }, { field })
}

function durationOf(name: string, value: unknown): number {
  const ms = parseDuration(assertDurationText(name, value), name)
  if (ms <= 0) throw new WakefulError('field.too_small', {}, { field: name })
  if (ms > DURATION_MS_MAX)
    throw new WakefulError(
      'field.invalid',
      { expected: 'at most 36500d', value: String(value) },
      { field: name },
    )
  return ms
}

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** Whether it is a trace context of the W3C's version 00. */
export function isTraceparent(value: unknown): value is string {
  return typeof value === 'string' && TRACEPARENT.test(value)
}

/** A trace context of the W3C's version 00, as it was given, or a refusal. */
function traceparentOf(value: unknown): string {
  if (isTraceparent(value)) return value
  const expected =
    'a W3C trace context of version 00, such as 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  throw new WakefulError('field.invalid', { expected, value: display(value) }, { field: 'traceparent' })
}

/** An omitted cap is raised to a base above the default cap. */
function backoffOf(value: unknown, defaults: AlarmDefaults): Backoff {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new WakefulError('backoff.shape', {}, { field: 'backoff' })
  assertMembers('backoff', value, BACKOFF_NAMES)
  const input = value as Partial<Backoff>
  const baseMs = assertInteger(
    'backoff.baseMs',
    input.baseMs ?? defaults.backoffBaseMs,
    0,
    BACKOFF_BASE_MS_MAX,
  )
  const capMs = input.capMs ?? Math.max(baseMs, defaults.backoffCapMs)
  return { baseMs, capMs: assertInteger('backoff.capMs', capMs, baseMs, BACKOFF_CAP_MS_MAX) }
}

/** The bounds of a backoff over the network. Fast retries would keep a shared server busy; the library allows 0. */
export const SHARED_BACKOFF = {
  baseMs: { minimum: 100, maximum: BACKOFF_BASE_MS_MAX },
  capMs: { minimum: 100, maximum: BACKOFF_CAP_MS_MAX },
}

/** Refuses numbers that users may set in their own process, but not on a server that they share. */
export function assertShared({ maxFailures, backoff }: SetOptions): void {
  const { min, networkMax } = ALARM_FIELDS.maxFailures
  assertWithin('maxFailures', maxFailures, { minimum: min, maximum: networkMax })
  for (const name of BACKOFF_NAMES) assertWithin(`backoff.${name}`, backoff?.[name], SHARED_BACKOFF[name])
}

function assertWithin(field: string, value: unknown, bounds: { minimum: number; maximum: number }): void {
  if (value !== undefined && value !== null) assertInteger(field, value, bounds.minimum, bounds.maximum)
}

/** The JSON text of a payload; null if omitted. */
export function payloadText(payload: unknown, limits: Limits): string | null {
  if (payload === undefined) return null
  const text = jsonText(payload, 'payload')
  const bytes = utf8Length(text)
  if (bytes > limits.payloadBytesMax) {
    throw new WakefulError('payload.too_large', { bytes, max: limits.payloadBytesMax }, { field: 'payload' })
  }
  return text
}

/** The default limits. */
export const DEFAULT_LIMITS: Limits = {
  payloadBytesMax: 256 * 1024,
  messageBytesMax: 64 * 1024,
  nameBytesMax: 512,
  batchMax: 1000,
  listMax: 500,
}

/** Refuses text that is too long, or that a store could not return unchanged. */
export function assertText(field: string, value: unknown, bytesMax: number): string {
  if (typeof value !== 'string')
    throw new WakefulError('field.invalid', { expected: 'a string', value: typeName(value) }, { field })
  const bytes = utf8Length(value)
  if (bytes > bytesMax) throw new WakefulError('field.too_long', { bytes, max: bytesMax }, { field })
  if (value.includes('\0')) throw new WakefulError('field.nul_character', {}, { field })
  if (!value.isWellFormed()) throw new WakefulError('field.lone_surrogate', {}, { field })
  return value
}

/** Refuses text that cannot be a name, because it is empty. */
export function assertName(field: string, value: unknown, bytesMax: number): string {
  const name = assertText(field, value, bytesMax)
  if (name === '') throw new WakefulError('field.empty', {}, { field })
  return name
}

/** The text's length in UTF-8 without encoding it. */
export function utf8Length(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1
  }
  return bytes
}
