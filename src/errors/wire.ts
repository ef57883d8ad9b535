import type { Params } from './reason.ts'
import { type ErrorData, libraryField, wireField } from './words.ts'

/** An error as a problem document has it: fields have their wire names, also those that parameters name. */
export interface WireError {
  readonly reason: string
  readonly params: Params
  readonly field?: string
}

/** The parameters whose values are names of fields. */
const FIELD_PARAMS: ReadonlySet<string> = new Set(['other', 'others', 'fields'])

/** An error's data as the wire has it. */
export function toWire({ reason, params, field }: ErrorData): WireError {
  return {
    reason,
    params: renamed(params, wireField),
    ...(field !== undefined && { field: wireField(field) }),
  }
}

/** An error's data read from the wire; null where it is not such data. */
export function fromWire(input: unknown): WireError | null {
  const { reason, params, field } = (input ?? {}) as Record<string, unknown>
  if (typeof reason !== 'string' || typeof params !== 'object' || params === null) return null
  return {
    reason,
    params: renamed(params as Params, libraryField),
    ...(typeof field === 'string' && field !== '' && { field: libraryField(field) }),
  }
}

function renamed(params: Params, rename: (field: string) => string): Params {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => {
      if (!FIELD_PARAMS.has(name)) return [name, value]
      if (typeof value === 'string') return [name, rename(value)]
      return [name, Array.isArray(value) ? value.map((each) => rename(String(each))) : value]
    }),
  )
}
