import { type ErrorCode, WakefulError } from '../../errors/core.ts'
import { quote } from './text.ts'

/** Checks whether a value, such as one from a database, is valid. */
export type Check = (value: unknown) => boolean

/** The fields of an object, each with its check. */
export type Shape = Readonly<Record<string, Check>>

/** A check for plain objects with these fields and no others. An optional field may be undefined. */
export function objectOf(required: Shape, optional: Shape = {}): Check {
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
    const row = value as Record<string, unknown>
    return (
      Object.entries(required).every(([name, check]) => Object.hasOwn(row, name) && check(row[name])) &&
      Object.entries(optional).every(([name, check]) => row[name] === undefined || check(row[name])) &&
      Object.keys(row).every((name) => Object.hasOwn(required, name) || Object.hasOwn(optional, name))
    )
  }
}

/** A check for lists of this length, without duplicates. */
export function listOf(check: Check, lengthMin: number, lengthMax: number): Check {
  return (value) => {
    if (!Array.isArray(value) || value.length < lengthMin || value.length > lengthMax) return false
    return value.every(check) && new Set(value).size === value.length
  }
}

/** A check for whole numbers in this range. */
export function wholeFrom(min: number, max: number): Check {
  return (value) => Number.isInteger(value) && (value as number) >= min && (value as number) <= max
}

/** Refuses a field that is not a whole number in this range; no maximum means no limit. */
export function assertWhole(
  field: string,
  value: unknown,
  [min, max]: [min: number, max?: number],
  code?: ErrorCode,
): number {
  if (wholeFrom(min, max ?? Number.MAX_SAFE_INTEGER)(value)) return value as number
  const params = { min, max: max ?? null, value: quote(value) }
  throw new WakefulError('field.not_whole_number', params, { field, code })
}

/** A check for one of these values. */
export function oneOf(...values: readonly unknown[]): Check {
  return (value) => values.includes(value)
}
