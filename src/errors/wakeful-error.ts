import type { ParamsOf, ReasonId } from './index.ts'
import { type ErrorCode, type Params, reasonOf } from './reason.ts'
import { type ErrorData, libraryField, render, wireField } from './words.ts'

/** What an error can carry beside its reason. */
export interface ErrorOptions {
  readonly cause?: unknown
  /** The field it is about, as a path in the library's names: `items[1].delay`. */
  readonly field?: string | undefined
  /** The code, where it is not that of the reason. */
  readonly code?: ErrorCode | undefined
  /** Several errors at once, or the one that this adds to. */
  readonly errors?: readonly WakefulError[] | undefined
  /** When the same call may succeed. */
  readonly retryAfterMs?: number | undefined
  /** The words of a reason that this version does not know. */
  readonly message?: string
}

/** A reason with its own parameters; the reason decides the type of the parameters. */
type ErrorArguments = {
  [R in ReasonId]: [reason: R, params: ParamsOf<R>, options?: ErrorOptions]
}[ReasonId]

/**
 * A refused call, as data: the code and the reason are stable, and every interface renders its own words from the reason,
 * its parameters and the field. `message` has the library's words.
 */
export class WakefulError extends Error implements ErrorData {
  override readonly name = 'WakefulError'
  readonly code: ErrorCode
  /** Why: a stable id such as `duration.no_unit`. */
  readonly reason: string
  /** The values that the message names. */
  readonly params: Params
  /** The field it is about, as a path in the library's names: `items[1].delay`. */
  declare readonly field?: string
  /** Several errors at once, or the one that this adds to. */
  declare readonly errors?: readonly WakefulError[]
  /** When the same call may succeed. */
  declare readonly retryAfterMs?: number

  constructor(...[reason, params, options = {}]: ErrorArguments) {
    const { field, errors, cause } = options
    const data = { reason, params, field, errors, message: options.message ?? reason }
    super(render(data, 'library'), cause === undefined ? undefined : { cause })
    this.code = options.code ?? reasonOf(reason)?.code ?? 'internal'
    this.reason = reason
    this.params = params
    if (field !== undefined) this.field = field
    if (errors !== undefined) this.errors = errors
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs
  }

  /** The same error with another code, or about another field. */
  with({ code = this.code, field = this.field }: Pick<ErrorOptions, 'code' | 'field'>): WakefulError {
    const { reason, params, errors, message, retryAfterMs } = this
    return WakefulError.from({ code, reason, params, field, errors, message, retryAfterMs }, this)
  }

  /** The error of data that came from elsewhere, also of a reason that this version does not know. */
  static from({ errors, reason, params, ...data }: ForeignError, cause?: unknown): WakefulError {
    const nested = errors?.map((each) =>
      each instanceof WakefulError ? each : WakefulError.from({ ...each, code: data.code }),
    )
    const options = { ...data, errors: nested, cause }
    return new WakefulError(...([reason, params, options] as unknown as ErrorArguments))
  }
}

/** An error's data with its code. */
interface ForeignError extends ErrorData {
  readonly code: ErrorCode
  readonly retryAfterMs?: number | undefined
}

/** Does work whose refusals are about this field, or about a part of it. */
export function inField<T>(field: string, work: () => T): T {
  try {
    return work()
  } catch (thrown) {
    throw aboutField(field, thrown)
  }
}

/** What was thrown; a refusal is about this field from now on, or about a part of it. */
export function aboutField(field: string, thrown: unknown): unknown {
  if (!(thrown instanceof WakefulError)) return thrown
  return thrown.with({ field: thrown.field === undefined ? field : `${field}.${thrown.field}` })
}

/** The error of an unknown name in this field, or in the call, with the known name that was probably meant. */
export function unknownField(name: string, known: readonly string[], field?: string): WakefulError {
  const other = closest(name, known, name.length > 3 ? 2 : 1)
  return new WakefulError('field.unknown', { name: name.slice(0, 60), fields: known, other }, { field })
}

/** The same, of the names of the wire. Of several errors, the last one lists the known names once. */
export function unknownWireField(
  name: string,
  known: readonly string[],
  field?: string,
  isListed = true,
): WakefulError {
  const { other: near, ...params } = unknownField(name, known).params as ParamsOf<'field.unknown'>
  const fields = isListed ? known.map(libraryField) : []
  // The library's names of fields are tried first: `cron` for `cron_expr`, `idempotencyKey`.
  const other = known.find((each) => each === wireField(name)) ?? near
  return new WakefulError(
    'field.unknown',
    { ...params, fields, other: other === null ? null : libraryField(other) },
    { field },
  )
}

/** Refuses an unknown member of an object: a typo must not change what is done. */
export function assertMembers(field: string, input: object, known: readonly string[]): void {
  const unknown = Object.keys(input).find((name) => !known.includes(name))
  if (unknown !== undefined) throw unknownField(unknown, known, field)
}

/** The type of a value that has the wrong one. */
export function typeName(value: unknown): string {
  if (value === null || value === undefined || Number.isNaN(value)) return String(value)
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** The message of anything thrown, bounded so that it can be stored and shown. Never throws itself. */
export function errorText(thrown: unknown, maxLength = 2000): string {
  let text: string
  try {
    const message = thrown instanceof Error ? thrown.message || thrown.name : thrown
    text = typeof message === 'string' ? message : display(message)
  } catch {
    text = 'an error that cannot be printed'
  }
  const whole = text.toWellFormed().replaceAll('\0', '\ufffd')
  return whole.length > maxLength ? `${whole.slice(0, maxLength - 1)}…` : whole
}

/** Any value as a short text, whatever it is: for messages about what was wrong. */
export function display(value: unknown): string {
  try {
    const quoted = typeof value === 'string' || (typeof value === 'object' && value !== null)
    const text = quoted ? JSON.stringify(value) : String(value)
    return text.length > 200 ? `${text.slice(0, 199)}…` : text
  } catch {
    return `a ${typeof value} that cannot be printed`
  }
}

/** The candidate with the smallest edit distance to `wanted`; null if all are further than `distanceMax`. */
export function closest(wanted: string, candidates: Iterable<string>, distanceMax = 2): string | null {
  let best: string | null = null
  let bestDistance = distanceMax + 1
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate, bestDistance)
    if (distance >= bestDistance) continue
    best = candidate
    bestDistance = distance
  }
  return best
}

/** The Levenshtein distance; `limit` if it is that or more. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const swap = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(swap, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
